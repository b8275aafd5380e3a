"""vLLM's engine client, taught to hold both kinds of request."""

from collections.abc import AsyncGenerator
from typing import Any, cast

from vllm.config import PoolerConfig, VllmConfig
from vllm.inputs import EngineInput
from vllm.inputs.engine import split_enc_dec_input
from vllm.lora.request import LoRARequest
from vllm.outputs import RequestOutput
from vllm.sampling_params import SamplingParams
from vllm.v1.engine.async_llm import AsyncLLM

from orthrus_serving.engine.frontend.input_processor import OrthrusInputProcessor
from orthrus_serving.engine.frontend.output_processor import OrthrusOutputProcessor
from orthrus_serving.scheduling.snapshot import Snapshot


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

    # No generator itself, so a refusal comes at the call: a generator would raise at its first
    # step, when a stream has begun with status 200.
    def generate(
        self,
        prompt: Any,
        sampling_params: SamplingParams,
        *rest: Any,
        data_parallel_rank: int | None = None,
        **named: Any,
    ) -> AsyncGenerator[RequestOutput, None]:
        """A replica has one rank, so a header that asks for another is of no matter here."""
        if isinstance(prompt, dict) and "type" in prompt:
            self._validate(cast("EngineInput", prompt), sampling_params, named.get("lora_request"))
        return super().generate(prompt, sampling_params, *rest, **named)

    def adapters_in_work(self) -> set[int]:
        """vLLM's ids of the adapters that requests in the engine use."""
        states = self.output_processor.request_states.values()
        return {state.lora_request.lora_int_id for state in states if state.lora_request}

    def _validate(
        self, prompt: EngineInput, params: SamplingParams, lora: LoRARequest | None
    ) -> None:
        """Does now what `process_inputs` will do again, too late for a stream."""
        processor = self.input_processor
        processor._validate_params(params, self._supported_tasks)
        processor._validate_lora(lora)
        processor._validate_model_inputs(*split_enc_dec_input(prompt))


async def pull_snapshot(client: AsyncLLM) -> Snapshot:
    """What the scheduler of an engine of ours says of itself; answered between two steps."""
    answer = await client.engine_core.call_utility_async("orthrus_snapshot")
    return Snapshot.from_dict(answer)
