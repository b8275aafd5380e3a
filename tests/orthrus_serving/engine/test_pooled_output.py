"""Finished embeddings ride on the output that the scheduler reads."""

import torch
from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput

from orthrus_serving.engine.pooled_output import AsyncPooledOutput, attach
from orthrus_serving.pooling import PooledStep


def output() -> ModelRunnerOutput:
    return ModelRunnerOutput(
        req_ids=["g", "e", "f"],
        req_id_to_index={"g": 0, "e": 1, "f": 2},
        sampled_token_ids=[[7], [], []],
    )


def pooled() -> PooledStep:
    return PooledStep(["f"], torch.ones(1, 4), failures={})


def vectors(attached: ModelRunnerOutput) -> list[list[float] | None]:
    assert attached.pooler_output is not None
    return [None if v is None else v.tolist() for v in attached.pooler_output]


def test_a_vector_is_attached_to_the_row_of_its_request() -> None:
    attached = attach(output(), pooled())
    assert vectors(attached) == [None, None, [1.0] * 4]
    assert attached.sampled_token_ids == [[7], [], []]


def test_an_asynchronous_output_gets_its_vectors_when_it_is_waited_for() -> None:
    class Sampled(AsyncModelRunnerOutput):
        def get_output(self) -> ModelRunnerOutput:
            return output()

    attached = AsyncPooledOutput(Sampled(), pooled()).get_output()
    assert vectors(attached) == [None, None, [1.0] * 4]
