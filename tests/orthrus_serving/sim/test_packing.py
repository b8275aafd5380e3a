"""The packing simulation: what each setting must do, and where the paper's figures lie."""

from dataclasses import replace
from random import Random

import pytest

from orthrus_serving.sim.packing.grid import grid, pack
from orthrus_serving.sim.packing.iterations import Packed, Packing
from orthrus_serving.sim.packing.settings import (
    FULL_ITERATION_SECONDS,
    Chunks,
    LeftOut,
    Stated,
)

FIXED = LeftOut()


def run(stated: Stated, left_out: LeftOut, *, chunked: bool, iterations: int = 500) -> Packed:
    return Packing(stated, left_out, chunked, Random(0)).run(iterations)  # noqa: S311


def test_chunks_leave_less_than_one_chunk_of_a_deep_queue_unused() -> None:
    """As the paper says (4.2); chunks that are cut to what is left leave nothing."""
    fill = run(Stated(), FIXED, chunked=True).fill
    assert 1 - 64 / 256 < fill < 1.0
    assert run(Stated(), replace(FIXED, chunks="cut"), chunked=True).fill == 1.0


def test_smaller_chunks_fill_more() -> None:
    fills = [run(Stated(chunk=chunk), FIXED, chunked=True).fill for chunk in (224, 128, 64, 16)]
    assert fills == sorted(fills)
    assert fills[-1] > fills[0] + 0.05


@pytest.mark.parametrize(("chunks", "iterations"), [("fitting", 1), ("cut", 224 / 256), ("one", 3)])
def test_a_lone_embedding_takes_its_chunks_together_or_in_turn(
    chunks: Chunks, iterations: float
) -> None:
    """224 tokens are 64, 64, 64 and 32; the next one begins where there is room beside the last."""
    only = Stated(generation_share=0.0, long_share=1.0)
    found = run(only, replace(FIXED, load=1, chunks=chunks), chunked=True, iterations=400)
    expected = 1 / (iterations * FULL_ITERATION_SECONDS)
    assert found.embeddings_per_second == pytest.approx(expected, rel=0.02)


def test_whole_embeddings_of_one_length_waste_what_does_not_divide_the_budget() -> None:
    only = Stated(generation_share=0.0, short=96, long_share=0.0)
    found = run(only, FIXED, chunked=False)
    assert found.fill == 2 * 96 / 256
    assert found.embeddings_per_second == pytest.approx(2 / FULL_ITERATION_SECONDS)


def test_a_lone_generation_takes_its_prompt_and_a_charge_for_each_step() -> None:
    only = Stated(generation_share=1.0)
    found = run(only, replace(FIXED, load=1), chunked=True, iterations=321)
    # The next one's prompt shares an iteration with the last step of the one before.
    assert found.fill == (10 * (128 + 32 * 8) + 128) / (321 * 256)
    assert found.generations_per_second == pytest.approx(10 / (321 * FULL_ITERATION_SECONDS))


def test_tokens_are_conserved_when_time_goes_by_tokens() -> None:
    """At 40,000 tokens per second the rates of both tasks follow from the mix alone."""
    found = run(Stated(), replace(FIXED, time_by_tokens=True), chunked=True, iterations=8_000)
    served = 384 * found.generations_per_second + 153.6 * found.embeddings_per_second
    assert served == pytest.approx(40_000, rel=0.02)


def test_light_poisson_load_is_served_as_it_comes() -> None:
    left_out = LeftOut("poisson", 0.2)
    found = run(Stated(), left_out, chunked=True, iterations=8_000)
    served = 384 * found.generations_per_second + 153.6 * found.embeddings_per_second
    assert served == pytest.approx(0.2 * 40_000, rel=0.1)


def test_an_embedding_that_does_not_fit_stops_those_behind_it_or_lets_them_pass() -> None:
    strict = run(Stated(), FIXED, chunked=False)
    lenient = run(Stated(), replace(FIXED, strict=False), chunked=False)
    assert strict.fill < 0.6
    assert lenient.fill > 0.9


def test_an_embedding_that_wants_an_iteration_to_itself_waits_until_nothing_decodes() -> None:
    alone = run(Stated(), replace(FIXED, alone=True), chunked=False)
    assert alone.fill < 0.5 * run(Stated(), FIXED, chunked=False).fill
    assert pack(replace(FIXED, alone=True), 0, 500).chunked == pack(FIXED, 0, 500).chunked


def test_a_bound_on_generations_leaves_budget_unused() -> None:
    bounded = run(Stated(generation_share=1.0), replace(FIXED, running=8), chunked=True)
    assert bounded.fill < 0.5


def test_the_grid_holds_the_published_fills_at_one_point() -> None:
    """Within a point each; the settings fixed beforehand are far from them."""
    nearest = LeftOut("closed", 24, whole_prompts=True, alone=True, strict=False)
    assert nearest in list(grid())
    found = pack(nearest, seed=0)
    assert found.atomic.fill == pytest.approx(0.088, abs=0.01)
    assert found.chunked.fill == pytest.approx(0.857, abs=0.015)
    assert FIXED in list(grid())
    assert pack(FIXED, seed=0).atomic.fill > 0.4
