"""/v1/embeddings over an engine that generates too."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from vllm.entrypoints.pooling.base.io_processor import PoolingIOProcessor
from vllm.entrypoints.pooling.embed.serving import ServingEmbedding
from vllm.entrypoints.pooling.typing import AnyPoolingRequest, PoolingServeContext
from vllm.entrypoints.serve.engine.serving import BaseServing
from vllm.exceptions import GenerationError, VLLMValidationError
from vllm.renderers.inputs.preprocess import extract_prompt_len

from orthrus_serving.engine.embedding_cache import POOLINGS_THAT_SKIP_TOKENS
from orthrus_serving.engine.frontend.admission import admit, require_room
from orthrus_serving.engine.frontend.embedding_space import HEADER, EmbeddingSpace
from orthrus_serving.engine.frontend.request_rules import (
    keep_first_tokens,
    note_model,
    require_integer_tokens,
    require_served,
)
from orthrus_serving.engine.http_request import current_http_request
from orthrus_serving.engine.queued_tokens import QueuedTokens


class OrthrusServingEmbedding(ServingEmbedding):
    """vLLM's handler, which sends our head's parameters and never answers a wrong vector."""

    def __init__(
        self, *args: Any, space: EmbeddingSpace, queue: QueuedTokens, **named: Any
    ) -> None:
        super().__init__(*args, **named)  # type: ignore[no-untyped-call]
        self._queue = queue
        self._pooling = space.pooling
        self._space_of_normalization = {
            normalized: replace(space, normalized=normalized).identifier
            for normalized in (True, False)
        }

    async def __call__(
        self, request: AnyPoolingRequest, raw_request: Request | None = None
    ) -> Response:
        # `ServingEmbedding` only notices an unknown model later, without naming the served ones.
        if error := await BaseServing._check_model(self, request):
            return JSONResponse(error.model_dump(), status_code=error.error.code)
        note_model(self, request.model)
        require_served(request, self.max_model_len)
        keep_first_tokens(request, self.renderer.tokenizer)
        require_room(self._queue)
        if raw_request is not None:
            require_integer_tokens(await raw_request.json(), "input")
        response: Response = await super().__call__(request, raw_request)
        response.headers[HEADER] = self._space_of_normalization[_is_normalized(request)]
        return response

    async def _init_ctx(
        self,
        io_processor: PoolingIOProcessor,
        request: AnyPoolingRequest,
        raw_request: Request | None = None,
    ) -> PoolingServeContext[Any]:
        _refuse_unserved(request)
        context: PoolingServeContext[Any] = await super()._init_ctx(
            io_processor, request, raw_request
        )
        context.model_name = request.model or context.model_name
        params = context.pooling_params
        params.use_activation = _is_normalized(request)
        params.extra_kwargs = {"pooling": self._pooling}
        params.skip_reading_prefix_cache = self._pooling not in POOLINGS_THAT_SKIP_TOKENS
        return context

    async def _preprocessing(
        self, io_processor: PoolingIOProcessor, ctx: PoolingServeContext[Any]
    ) -> None:
        await super()._preprocessing(io_processor, ctx)
        # Before any input reaches the engine, so that one bad input does not strand the others.
        prompts = [engine_input["prompts"] for engine_input in ctx.engine_inputs or ()]
        lengths = [extract_prompt_len(self.model_config, prompt) for prompt in prompts]
        for index, length in enumerate(lengths):
            if length == 0:
                raise VLLMValidationError(f"input {index} has no tokens", parameter="input")
        admit(self._queue, sum(lengths))

    async def _collect_batch(self, ctx: PoolingServeContext[Any]) -> None:
        await super()._collect_batch(ctx)
        require_vectors([result.outputs.data for result in ctx.final_res_batch])


def require_vectors(vectors: Sequence[torch.Tensor]) -> None:
    """Refuses to answer with a vector that the engine did not compute, or computed wrong.

    Raises:
        GenerationError: (500) names the first such input; a size of 0 is the engine's sentinel.
    """
    for index, vector in enumerate(vectors):
        if vector.numel() == 0:
            raise GenerationError(f"the engine ended input {index} without a vector")
        if not torch.isfinite(vector).all():
            if (request := current_http_request.get()) is not None:
                request.broken_vectors += 1
            raise GenerationError(f"the vector of input {index} is not finite")


def _is_normalized(request: AnyPoolingRequest) -> bool:
    """Vectors have length 1 unless the request asks otherwise."""
    return getattr(request, "use_activation", None) is not False


def _refuse_unserved(request: AnyPoolingRequest) -> None:
    if getattr(request, "dimensions", None) is not None:
        raise VLLMValidationError(
            "dimensions is not supported: this model's vectors cannot be shortened",
            parameter="dimensions",
        )
    if getattr(request, "padding", None) == "max_length":
        raise VLLMValidationError(
            "padding 'max_length' is not supported: pads would count in the vector",
            parameter="padding",
        )
