"""/v1/completions and /v1/chat/completions: vLLM's handlers, with our rules before the engine."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any

from fastapi import Request
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion
from vllm.entrypoints.openai.models.serving import OpenAIServingModels
from vllm.entrypoints.serve.engine.protocol import ErrorResponse
from vllm.exceptions import VLLMValidationError
from vllm.inputs import EngineInput
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.admission import admit, require_room
from orthrus_serving.engine.frontend.request_rules import (
    keep_first_tokens,
    note_model,
    require_integer_tokens,
    require_served,
)
from orthrus_serving.engine.http_request import current_http_request
from orthrus_serving.engine.queued_tokens import QueuedTokens

_asked_tokens: ContextVar[int | None] = ContextVar("asked_tokens", default=None)
"""`max_tokens` as the client wrote it: vLLM fills in a default where it wrote none."""


def guard_completions(handler: OpenAIServingCompletion, queue: QueuedTokens) -> None:
    handler.create_completion = _with_body(  # type: ignore[method-assign, assignment]
        handler.create_completion, ("max_tokens",), of_tokens="prompt"
    )
    handler.render_completion_request = _guarded(  # type: ignore[method-assign, assignment]
        handler, handler.render_completion_request, lambda rendered: rendered, queue
    )


def guard_chat(handler: OpenAIServingChat, queue: QueuedTokens) -> None:
    handler.create_chat_completion = _with_body(  # type: ignore[method-assign, assignment]
        handler.create_chat_completion, ("max_completion_tokens", "max_tokens")
    )
    handler.render_chat_request = _guarded(  # type: ignore[method-assign, assignment]
        handler, handler.render_chat_request, lambda rendered: rendered[1], queue
    )


def answer_with_name_asked_for(models: OpenAIServingModels) -> None:
    """vLLM answers every alias with the first served name."""
    stock = models.model_name

    def model_name(lora_request: LoRARequest | None = None) -> str:
        request = current_http_request.get()
        return (request.model if request is not None else None) or stock(lora_request)

    models.model_name = model_name  # type: ignore[method-assign]


def require_possible(lengths: list[int], asked: int | None, model_length: int) -> None:
    """Raises VLLMValidationError (400), where vLLM generates less than what was asked for, or
    finds after a stream has begun that a prompt is empty or leaves no room."""
    for index, length in enumerate(lengths):
        if length == 0:
            raise VLLMValidationError(f"prompt {index} has no tokens", parameter="prompt")
    longest = max(lengths, default=0)
    if longest + max(asked or 0, 1) > model_length:
        raise VLLMValidationError(
            f"The prompt has {longest} tokens and {max(asked or 0, 1)} are to be generated, and "
            f"together they must be at most {model_length}: shorten one of them.",
            parameter="max_tokens" if longest < model_length else "prompt",
        )


def _with_body(
    create: Callable[[Any, Request], Awaitable[Any]],
    limits: Sequence[str],
    of_tokens: str | None = None,
) -> Callable[..., Awaitable[Any]]:
    """Looks at the body as the client wrote it, before vLLM's defaults and conversions. `limits`:
    fields that bound the output, the first that is there before the others; `of_tokens`: a field
    that may hold token ids."""

    async def create_with_body(request: Any, raw_request: Request) -> Any:
        body = await raw_request.json()
        if of_tokens is not None:
            require_integer_tokens(body, of_tokens)
        written = (getattr(request, name) for name in limits if body.get(name) is not None)
        _asked_tokens.set(next(written, None))
        return await create(request, raw_request)

    return create_with_body


def _guarded(
    handler: OpenAIServingCompletion | OpenAIServingChat,
    render: Callable[[Any], Awaitable[Any]],
    engine_inputs_of: Callable[[Any], list[EngineInput]],
    queue: QueuedTokens,
) -> Callable[[Any], Awaitable[Any]]:
    """`render` turns a request into tokens. It runs once per HTTP request, before an answer begins
    and before the engine sees any of it: where a refusal is whole, and has its own status."""
    model_length = handler.model_config.max_model_len

    async def guarded(request: Any) -> Any:
        note_model(handler, request.model)
        require_served(request, model_length)
        keep_first_tokens(request, handler.renderer.tokenizer)
        require_room(queue)
        rendered = await render(request)
        if isinstance(rendered, ErrorResponse):
            return rendered
        lengths = [handler._extract_prompt_len(item) for item in engine_inputs_of(rendered)]
        # Who asks for truncation asks to have things made to fit.
        asked = None if request.truncate_prompt_tokens is not None else _asked_tokens.get()
        require_possible(lengths, asked, model_length)
        # Each sample of a prompt is a request of its own in the engine, with its own prefill.
        admit(queue, sum(lengths) * (request.n or 1))
        return rendered

    return guarded
