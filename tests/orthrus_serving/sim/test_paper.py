"""The paper's cells: a few of the cheap ones here, all of them in the long test."""

import pytest

from orthrus_serving.sim.paper.comparison import GOAL, compare
from orthrus_serving.sim.paper.constants import FITTED, QUERY_LOAD
from orthrus_serving.sim.paper.long_decodes import run_long_decodes
from orthrus_serving.sim.paper.mixes import run_mix
from orthrus_serving.sim.paper.published import FITTED_TO, PUBLISHED
from orthrus_serving.sim.paper.systems import dedicated, unified


def test_the_constants_of_the_source_are_those_of_the_cells_that_they_were_fitted_to() -> None:
    embeddings = run_mix(dedicated(FITTED, 1, 3), 0.9, seed=0).embedding.requests_per_second
    assert embeddings == pytest.approx(PUBLISHED["T5 9:1 Dedicated embeddings"], rel=0.02)
    generations = run_mix(dedicated(FITTED, 1, 3), 0.1, seed=0).generation.requests_per_second
    # All streams start at once and end in waves, so this one moves by a wave of 460 or not at all.
    assert generations == pytest.approx(PUBLISHED["T5 1:9 Dedicated generations"], rel=0.05)
    latency = run_long_decodes(unified(FITTED, "ibs", 1), 4096, seed=0).generation.latency
    assert latency is not None
    assert latency.p99 == pytest.approx(PUBLISHED["T10 4096 generation p99"], rel=0.02)


def test_throughput_of_a_balanced_mix_is_predicted() -> None:
    found = run_mix(unified(FITTED, "ibs", 4), 0.5, seed=0)
    expected = PUBLISHED["T5 5:5 Orthrus embeddings"]
    assert found.embedding.requests_per_second == pytest.approx(expected, rel=GOAL)
    expected = PUBLISHED["T5 5:5 Orthrus generations"]
    assert found.generation.requests_per_second == pytest.approx(expected, rel=GOAL)


@pytest.mark.long
def test_every_cell_is_near_or_has_a_reason() -> None:
    cells = compare(FITTED, QUERY_LOAD, seed=0)
    assert [cell.name for cell in cells] == list(PUBLISHED)
    assert {cell.name for cell in cells if cell.fitted} == set(FITTED_TO)
    assert all(cell.within_goal for cell in cells if cell.fitted)
    assert all(bool(cell.reason) != cell.within_goal for cell in cells)
    assert sum(cell.within_goal for cell in cells if not cell.fitted) >= 9
