"""Fitting the cost of a step to measured windows."""

from random import Random

import pytest

from orthrus_serving.sim.calibration import ALL, Window, calibrate
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.step_load import StepLoad

TRUE = LinearCost(step=0.020, chunk_token=0.001, decode_token=0.004)


def windows(count: int, noise: float = 0.0) -> list[Window]:
    draw = Random(0)  # noqa: S311
    made = []
    for _ in range(count):
        steps, chunk, decode = draw.randint(1, 40), draw.randint(0, 2_000), draw.randint(0, 300)
        seconds = steps * TRUE.step + chunk * TRUE.chunk_token + decode * TRUE.decode_token
        made.append(Window(steps, chunk, decode, seconds * draw.gauss(1, noise)))
    return made


def test_exact_windows_give_the_costs_back() -> None:
    found = calibrate(windows(40), seed=0)
    assert found.cost.step == pytest.approx(TRUE.step)
    assert found.cost.chunk_token == pytest.approx(TRUE.chunk_token)
    assert found.cost.decode_token == pytest.approx(TRUE.decode_token)
    assert found.held_out[ALL].median == pytest.approx(0, abs=1e-9)
    assert (found.fitted_windows, found.held_out[ALL].windows) == (20, 20)


def test_the_error_on_held_out_windows_is_that_of_the_noise() -> None:
    found = calibrate(windows(400, noise=0.1), seed=0)
    assert found.cost.chunk_token == pytest.approx(TRUE.chunk_token, rel=0.1)
    assert found.held_out[ALL].median == pytest.approx(0.067, abs=0.02)
    assert found.held_out[ALL].p90 == pytest.approx(0.165, abs=0.04)
    assert abs(found.held_out[ALL].total) < 0.03


def test_what_was_held_out_is_not_fitted_to() -> None:
    good = windows(40)
    draw = Random(3)  # noqa: S311
    order = list(good)
    draw.shuffle(order)
    spoiled = [
        w if w in order[:20] else Window(w.steps, w.chunk_tokens, w.decode_tokens, 2 * w.seconds)
        for w in good
    ]
    found = calibrate(spoiled, seed=3)
    assert found.cost.step == pytest.approx(TRUE.step)
    assert found.held_out[ALL].median == pytest.approx(0.5)


def test_errors_are_told_apart_by_what_the_steps_held() -> None:
    """Decodes that cost twice what the others say are the only ones that are wrong."""
    mixed = windows(200)
    decodes = [Window(10, 0, 50, 2 * (10 * TRUE.step + 50 * TRUE.decode_token))] * 4
    found = calibrate(mixed + decodes, seed=1).held_out
    assert set(found) >= {ALL, "chunks and decodes", "decodes only"}
    assert sum(found[kind].windows for kind in found if kind != ALL) == found[ALL].windows
    assert found["decodes only"].median > 0.3 > found["chunks and decodes"].median


def test_a_step_costs_the_sum() -> None:
    load = StepLoad(chunk_tokens=100, decode_tokens=5)
    assert TRUE.seconds(load) == pytest.approx(0.020 + 0.1 + 0.020)


def test_too_few_windows_and_windows_all_alike_are_refused() -> None:
    with pytest.raises(ValueError, match="19 windows with steps, but at least 20"):
        calibrate(windows(19), seed=0)
    with pytest.raises(ValueError, match="do not tell steps, chunk tokens and decode tokens apart"):
        calibrate([Window(n, 10 * n, 2 * n, float(n)) for n in range(1, 30)], seed=0)
