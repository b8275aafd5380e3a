"""Keeps the front end alive when an embedding ends without a vector."""

from typing import Any

from vllm.v1.engine import EngineCoreOutput
from vllm.v1.engine.output_processor import (
    EMPTY_CPU_TENSOR,
    OutputProcessor,
    OutputProcessorOutput,
)


class OrthrusOutputProcessor(OutputProcessor):
    """vLLM takes an output without a tensor for a generation, and its assertion ends the loop
    that serves every request: abort and error outputs carry none."""

    def process_outputs(
        self, engine_core_outputs: list[EngineCoreOutput], *rest: Any, **named: Any
    ) -> OutputProcessorOutput:
        outputs = [output for output in engine_core_outputs if self._complete(output)]
        return super().process_outputs(outputs, *rest, **named)

    def _complete(self, output: EngineCoreOutput) -> bool:
        """Whether to pass it on; one that ends an embedding gets the empty tensor."""
        state = self.request_states.get(output.request_id)
        is_embedding = state is not None and state.detokenizer is None
        if is_embedding and output.pooling_output is None:
            if output.finish_reason is None:
                return False
            output.pooling_output = EMPTY_CPU_TENSOR
        return True
