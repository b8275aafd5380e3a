"""Rules for the fields that completions, chat and embeddings share, held on all three alike."""

from typing import Any

from vllm.entrypoints.serve.engine.serving import BaseServing
from vllm.exceptions import VLLMValidationError
from vllm.tokenizers import TokenizerLike

from orthrus_serving.engine.http_request import current_http_request

MOST_INPUTS = 2048
"""Of one request: OpenAI's own limit for embeddings."""


def require_served(request: Any, model_length: int) -> None:
    """Raises VLLMValidationError (400) for what vLLM would ignore, or answer differently on
    different routes."""
    if request.priority != 0:
        raise VLLMValidationError(
            "priority must be 0: this server has no priority classes", parameter="priority"
        )
    if getattr(request, "use_beam_search", False):
        raise VLLMValidationError(
            "use_beam_search is not supported: each of its steps sends every beam as a new prompt, "
            "past the bound on the queue; ask for n samples with logprobs instead",
            parameter="use_beam_search",
        )
    samples = getattr(request, "n", None)
    if samples is not None and samples < 1:
        raise VLLMValidationError("n must be at least 1", parameter="n", value=samples)
    kept = request.truncate_prompt_tokens
    if kept is not None and kept != -1 and not 1 <= kept <= model_length:
        raise VLLMValidationError(
            f"truncate_prompt_tokens must be from 1 to {model_length}, or -1 for {model_length}",
            parameter="truncate_prompt_tokens",
            value=kept,
        )
    for field in ("input", "prompt", "messages"):
        count = _count_inputs(getattr(request, field, None))
        if count > MOST_INPUTS:
            raise VLLMValidationError(
                f"{field} holds {count} inputs, and a request may hold {MOST_INPUTS}",
                parameter=field,
            )


def require_integer_tokens(body: Any, field: str) -> None:
    """Refuses token ids that pydantic would silently turn into integers: true, 1.0, "1"."""
    items = body.get(field) if isinstance(body, dict) else None
    if not isinstance(items, list):
        return
    flat = [token for item in items for token in (item if isinstance(item, list) else [item])]
    texts = all(isinstance(item, str) for item in items)
    if any(type(token) in (bool, float) or (type(token) is str and not texts) for token in flat):
        raise VLLMValidationError("token ids must be integers", parameter=field)


def keep_first_tokens(request: Any, tokenizer: TokenizerLike | None) -> None:
    """Truncation keeps the first tokens, whichever side the tokenizer would keep.

    Asking for the side that the tokenizer has anyway would only make vLLM tokenize all of a text.
    """
    if (
        request.truncation_side is None
        and getattr(tokenizer, "truncation_side", "right") != "right"
    ):
        request.truncation_side = "right"


def note_model(handler: BaseServing, name: str | None) -> None:
    """Tells metrics and logs the name that was asked for, if it is one that is served."""
    # Not vLLM's own check, which an environment variable makes accept any text.
    known = not name or handler.models.is_base_model(name) or name in handler.models.lora_requests
    if known and (request := current_http_request.get()) is not None:
        request.model = name or handler.models.base_model_paths[0].name


def _count_inputs(given: object) -> int:
    """A text, a list of token ids and a conversation are one input; a list of any is as many."""
    if not isinstance(given, list) or not given:
        return 1
    return len(given) if isinstance(given[0], str | list) else 1
