"""/v1/embeddings over an engine that generates too."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from fastapi import Request
from fastapi.responses import Response
from vllm.entrypoints.pooling.embed.protocol import EmbeddingCompletionRequest
from vllm.entrypoints.pooling.embed.serving import ServingEmbedding
from vllm.entrypoints.pooling.typing import AnyPoolingRequest, PoolingServeContext
from vllm.exceptions import GenerationError, VLLMValidationError

from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.model_names import EmbeddingTarget, ModelNames
from orthrus_serving.engine.frontend.admission import admit, require_room
from orthrus_serving.engine.frontend.embedding_input import (
    shorten,
    with_end_token,
    with_instruction,
)
from orthrus_serving.engine.frontend.embedding_space import HEADER
from orthrus_serving.engine.frontend.request_rules import (
    keep_first_tokens,
    note_model,
    require_integer_tokens,
    require_served,
)
from orthrus_serving.engine.http_request import current_http_request
from orthrus_serving.engine.queued_tokens import QueuedTokens
from orthrus_serving.pooling import head_needs_every_token


class OrthrusServingEmbedding(ServingEmbedding):
    """vLLM's handler, which sends our head's parameters and never answers a wrong vector."""

    def __init__(
        self,
        *args: Any,
        names: ModelNames,
        use: AdapterUse,
        queue: QueuedTokens,
        **named: Any,
    ) -> None:
        super().__init__(*args, **named)  # type: ignore[no-untyped-call]
        self._names = names
        self._use = use
        self._queue = queue

    async def __call__(
        self, request: AnyPoolingRequest, raw_request: Request | None = None
    ) -> Response:
        """vLLM's sequence, with one look-up of the model: it may be loaded anew meanwhile."""
        target = self._names.embedding(request.model)
        self._use.hold(target.lora)
        note_model(self, request.model)
        require_served(request, self.max_model_len)
        keep_first_tokens(request, self.renderer.tokenizer)
        require_room(self._queue)
        if raw_request is not None:
            require_integer_tokens(await raw_request.json(), "input")
        size = self._requested_size(request, target)
        _refuse_padding(request)
        context = await self._init_ctx(self.io_processor, _instructed(request, target), raw_request)
        normalized = _is_normalized(request, target)
        self._direct(context, target, normalized=normalized and size is None)
        await self._preprocessing(self.io_processor, context)
        self._finish_inputs(context, target)
        await self._prepare_generators(context)
        await self._collect_batch(context)
        require_vectors([result.outputs.data for result in context.final_res_batch])
        if size is not None:
            for result in context.final_res_batch:
                result.outputs.data = shorten(result.outputs.data, size, normalized=normalized)
        response: Response = await self._postprocessing_async(self.io_processor, context)
        space = replace(target.space, normalized=normalized, dimensions=size)
        response.headers[HEADER] = space.identifier
        return response

    def _requested_size(self, request: AnyPoolingRequest, target: EmbeddingTarget) -> int | None:
        """Numbers that the request wants of each vector; None for all."""
        size: int | None = getattr(request, "dimensions", None)
        if size is None:
            return None
        if target.adapter is not None:
            allowed = target.adapter.allows(size)
        else:
            listed = self.model_config.matryoshka_dimensions
            largest = self.model_config.get_hidden_size() if self.model_config.is_matryoshka else 0
            allowed = size in listed if listed else 1 <= size <= largest
        if not allowed:
            raise VLLMValidationError(
                f"dimensions {size} is not supported: this model's vectors cannot be shortened to "
                "that",
                parameter="dimensions",
            )
        return size

    def _direct(
        self, context: PoolingServeContext[Any], target: EmbeddingTarget, *, normalized: bool
    ) -> None:
        """Tell the engine who pools, and how."""
        pooling = target.space.pooling
        context.model_name = context.request.model or context.model_name
        context.lora_request = target.lora
        params = context.pooling_params
        # vLLM holds sizes against the base model's configuration, and applies them nowhere.
        params.dimensions = None
        params.use_activation = normalized
        params.extra_kwargs = {"pooling": pooling}
        params.skip_reading_prefix_cache = head_needs_every_token(pooling)

    def _finish_inputs(self, context: PoolingServeContext[Any], target: EmbeddingTarget) -> None:
        """Before any input reaches the engine, so that one bad input does not strand the others."""
        lengths = []
        for index, engine_input in enumerate(context.engine_inputs or ()):
            prompt = cast("dict[str, Any]", engine_input["prompts"])
            tokens = prompt.get("prompt_token_ids")
            if not tokens:
                raise VLLMValidationError(f"input {index} has no tokens", parameter="input")
            if target.end_token is not None:
                prompt["prompt_token_ids"] = with_end_token(
                    tokens,
                    target.end_token,
                    self.max_model_len,
                    context.request.truncate_prompt_tokens,
                    context.request.truncation_side,
                )
            lengths.append(len(prompt["prompt_token_ids"]))
        admit(self._queue, sum(lengths))


def require_vectors(vectors: Sequence[torch.Tensor]) -> None:
    """Refuses to answer with a vector that the engine did not compute, or computed wrong.

    Raises:
        GenerationError: (500) names the first such input; a size of 0 is the engine's sentinel.
    """
    missing = [index for index, vector in enumerate(vectors) if vector.numel() == 0]
    # Hidden states that overflow leave the model's last normalisation as NaN or as zeros.
    broken = [
        index
        for index, vector in enumerate(vectors)
        if vector.numel() and not (torch.isfinite(vector).all() and vector.any())
    ]
    if (request := current_http_request.get()) is not None:
        request.broken_vectors += len(broken)
    if missing:
        raise GenerationError(f"the engine ended input {missing[0]} without a vector")
    if broken:
        raise GenerationError(f"the vector of input {broken[0]} is not finite, or zero")


def _is_normalized(request: AnyPoolingRequest, target: EmbeddingTarget) -> bool:
    asked: bool | None = getattr(request, "use_activation", None)
    return target.space.normalized if asked is None else asked


def _instructed(request: AnyPoolingRequest, target: EmbeddingTarget) -> AnyPoolingRequest:
    if not target.instruction or not isinstance(request, EmbeddingCompletionRequest):
        return request
    return request.model_copy(update={"input": with_instruction(request.input, target.instruction)})


def _refuse_padding(request: AnyPoolingRequest) -> None:
    if getattr(request, "padding", None) == "max_length":
        raise VLLMValidationError(
            "padding 'max_length' is not supported: pads would count in the vector",
            parameter="padding",
        )
