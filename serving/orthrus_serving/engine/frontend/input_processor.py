"""Accepts embedding prompts of exactly the model's length."""

from contextvars import ContextVar
from typing import Any, Literal

from vllm.pooling_params import PoolingParams
from vllm.v1.engine import EngineCoreRequest
from vllm.v1.engine.input_processor import InputProcessor

_is_embedding: ContextVar[bool] = ContextVar("is_embedding", default=False)


class OrthrusInputProcessor(InputProcessor):
    """vLLM keeps room for one output token, which an embedding has no use for.

    The scheduler does the other half: it adds the last token, which vLLM's own length rule for
    running requests leaves out.
    """

    def process_inputs(
        self, request_id: str, prompt: Any, params: Any, *rest: Any, **named: Any
    ) -> EngineCoreRequest:
        token = _is_embedding.set(isinstance(params, PoolingParams))
        try:
            return super().process_inputs(request_id, prompt, params, *rest, **named)
        finally:
            _is_embedding.reset(token)

    def _validate_prompt_len(
        self, prompt_len: int, prompt_type: Literal["encoder", "decoder"]
    ) -> None:
        if _is_embedding.get() and prompt_len == self.model_config.max_model_len:
            return
        super()._validate_prompt_len(prompt_len, prompt_type)
