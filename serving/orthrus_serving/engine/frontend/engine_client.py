"""vLLM's engine client, taught to hold both kinds of request."""

from collections.abc import AsyncGenerator
from typing import Any

from vllm.config import PoolerConfig, VllmConfig
from vllm.exceptions import VLLMValidationError
from vllm.outputs import PoolingRequestOutput, RequestOutput
from vllm.v1.engine.async_llm import AsyncLLM

from orthrus_serving.engine.frontend.input_processor import OrthrusInputProcessor
from orthrus_serving.engine.frontend.output_processor import OrthrusOutputProcessor


class OrthrusEngineClient(AsyncLLM):
    """Starts the engine process when made: minutes, so make it outside the event loop."""

    def __init__(self, vllm_config: VllmConfig, *rest: Any, **named: Any) -> None:
        super().__init__(vllm_config, *rest, **named)
        self.input_processor = OrthrusInputProcessor(vllm_config, self.renderer)
        # Only now that the engine process has its own copy: there a pooler configuration would
        # turn off chunked prefill, prefix caching and full CUDA graphs. The type names no head
        # (ours pool); vLLM's front end wants one to show /v1/embeddings.
        self.model_config.pooler_config = PoolerConfig(task="embed", pooling_type="LAST")

    def _run_output_handler(self) -> None:
        # vLLM calls this as it starts, or at the first request. The task that it makes keeps the
        # processor that it finds, so ours has to be there first.
        if not isinstance(self.output_processor, OrthrusOutputProcessor):
            self.output_processor = OrthrusOutputProcessor(
                self.renderer.tokenizer,
                log_stats=self.log_stats,
                tracing_enabled=self.observability_config.otlp_traces_endpoint is not None,
            )
        super()._run_output_handler()  # type: ignore[no-untyped-call]

    # These two are no generators themselves, so a refusal comes at the call: a generator would
    # raise at its first step, when a stream has begun with status 200.
    def generate(
        self, *rest: Any, priority: int = 0, **named: Any
    ) -> AsyncGenerator[RequestOutput, None]:
        _refuse_priority(priority)
        return super().generate(*rest, **named)

    def encode(
        self, *rest: Any, priority: int = 0, **named: Any
    ) -> AsyncGenerator[PoolingRequestOutput, None]:
        _refuse_priority(priority)
        return super().encode(*rest, **named)


def _refuse_priority(priority: int) -> None:
    if priority != 0:
        raise VLLMValidationError(
            "priority must be 0: this server has no priority classes", parameter="priority"
        )
