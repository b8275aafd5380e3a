"""Keeps the front end alive when an embedding ends without a vector, and notes first outputs."""

from typing import Any

from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.output_processor import (
    EMPTY_CPU_TENSOR,
    OutputProcessor,
    OutputProcessorOutput,
    RequestState,
)

from orthrus_serving.engine.http_request import HttpRequest, current_http_request

_HTTP_REQUEST = "orthrus_http_request"
"""Attribute of a vLLM RequestState; it goes away with the state, however the request ends."""


class OrthrusOutputProcessor(OutputProcessor):
    """vLLM takes an output without a tensor for a generation, and its assertion ends the loop
    that serves every request: abort and error outputs carry none."""

    def add_request(self, request: EngineCoreRequest, *rest: Any, **named: Any) -> None:
        super().add_request(request, *rest, **named)
        setattr(self.request_states[request.request_id], _HTTP_REQUEST, current_http_request.get())

    def process_outputs(
        self, engine_core_outputs: list[EngineCoreOutput], *rest: Any, **named: Any
    ) -> OutputProcessorOutput:
        outputs = [output for output in engine_core_outputs if self._complete(output)]
        return super().process_outputs(outputs, *rest, **named)

    def propagate_error(self, e: Exception) -> None:
        for state in self.request_states.values():
            if (request := _http_request(state)) is not None:
                request.engine_failed = True
        super().propagate_error(e)

    def _complete(self, output: EngineCoreOutput) -> bool:
        """Whether to pass it on; one that ends an embedding gets the empty tensor."""
        state = self.request_states.get(output.request_id)
        if state is None:
            return True
        if (request := _http_request(state)) is not None:
            _note(request, state, output)
        if state.detokenizer is None and output.pooling_output is None:
            if output.finish_reason is None:
                return False
            output.pooling_output = EMPTY_CPU_TENSOR
        return True


def _http_request(state: RequestState) -> HttpRequest | None:
    request: HttpRequest | None = getattr(state, _HTTP_REQUEST, None)
    return request


def _note(request: HttpRequest, state: RequestState, output: EngineCoreOutput) -> None:
    if output.finish_reason == FinishReason.ERROR:
        request.engine_failed = True
    has_output = bool(output.new_token_ids) or output.pooling_output is not None
    if state.is_prefilling and has_output:
        request.prompt_computed(state.prompt_len)
