"""Puts a step's finished embeddings on the runner output that the scheduler reads."""

import logging

from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput

from orthrus_serving.pooling import PooledStep

logger = logging.getLogger(__name__)


def attach(output: ModelRunnerOutput, pooled: PooledStep) -> ModelRunnerOutput:
    """Set `pooler_output`, one entry per row; None where no embedding ended."""
    vectors = pooled.wait()
    for request_id, failure in pooled.failures.items():
        logger.warning("request %s has no vector: %s", request_id, failure)
    output.pooler_output = [vectors.get(request_id) for request_id in output.req_ids]
    return output


class AsyncPooledOutput(AsyncModelRunnerOutput):
    """Defers the wait for the embeddings to where vLLM waits for the sampled tokens."""

    def __init__(self, sampled: AsyncModelRunnerOutput, pooled: PooledStep) -> None:
        self._sampled = sampled
        self._pooled = pooled

    def get_output(self) -> ModelRunnerOutput:
        return attach(self._sampled.get_output(), self._pooled)
