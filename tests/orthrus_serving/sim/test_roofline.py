from dataclasses import replace

import pytest

from orthrus_serving.sim.accelerator import A100_40GB
from orthrus_serving.sim.model_shape import MISTRAL_7B
from orthrus_serving.sim.paper.constants import FITTED, roofline
from orthrus_serving.sim.roofline import Roofline
from orthrus_serving.sim.step_load import StepLoad

IDEAL = Roofline(A100_40GB, MISTRAL_7B, fixed=0.0, bandwidth_share=1.0, flops_share=1.0)


def load(chunk: int = 0, decodes: int = 0, context: int = 0) -> StepLoad:
    made = StepLoad()
    if chunk:
        made.add_chunk(0, chunk)
    if decodes:
        made.add_decodes(decodes, context)
    return made


def test_a_lone_decode_reads_the_weights_and_its_context() -> None:
    weights = 14.22e9 / 1.555e12
    kv = 1001 * 131_072 / 1.555e12
    assert IDEAL.seconds(load(decodes=1, context=1000)) == pytest.approx(weights + kv)


def test_a_large_chunk_computes() -> None:
    matrices = 2 * 7.11e9 * 2048 / 312e12
    attention = 4 * 32 * 32 * 128 * (2048 * 2049 / 2) / 312e12
    assert IDEAL.seconds(load(chunk=2048)) == pytest.approx(matrices + attention)


def test_a_chunk_beside_decodes_is_free_while_the_weights_are_the_limit() -> None:
    """Why mixing pays: up to some 200 tokens, a decode step's time is that of its weights."""
    alone = IDEAL.seconds(load(decodes=32, context=32_000))
    with_chunk = IDEAL.seconds(load(chunk=128, decodes=32, context=32_000))
    assert with_chunk / alone < 1.01
    assert IDEAL.seconds(load(chunk=512, decodes=32, context=32_000)) / alone > 1.5


def test_arithmetic_is_the_limit_from_165_tokens_on() -> None:
    """With the shares of the peaks that are taken as given (docs/simulation.md)."""

    def matrices(tokens: int) -> float:
        return roofline(FITTED).seconds(StepLoad(chunk_tokens=tokens))

    assert matrices(165) == matrices(1)
    assert matrices(166) > matrices(1)


def test_a_chunk_in_the_middle_of_a_prompt_looks_at_what_was_computed_before() -> None:
    whole, halves = StepLoad(), StepLoad()
    whole.add_chunk(0, 200)
    halves.add_chunk(0, 100)
    halves.add_chunk(100, 100)
    assert halves.pairs == whole.pairs
    assert halves.kv_tokens == 300


def test_constants_act_as_they_say() -> None:
    some = load(chunk=64, decodes=8, context=8_000)
    assert replace(IDEAL, fixed=0.01).seconds(some) == pytest.approx(IDEAL.seconds(some) + 0.01)
    slower = replace(IDEAL, bandwidth_share=0.5, flops_share=0.5)
    assert slower.seconds(some) == pytest.approx(2 * IDEAL.seconds(some))


def test_room_for_keys_and_values_is_what_weights_and_workspace_leave() -> None:
    free = 0.9 * 40 * 2**30 - 14.22e9 - 1.5e9
    assert IDEAL.kv_tokens(0.9, 1.5e9) == int(free / 131_072)
    with pytest.raises(ValueError, match="Mistral-7B does not fit on A100-40GB"):
        IDEAL.kv_tokens(0.3, 0.0)
