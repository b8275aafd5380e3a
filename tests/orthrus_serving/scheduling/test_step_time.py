"""The prediction of a step's duration, fitted to measured steps."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.step_time import StepTime

BUDGET, ROWS = 2048, 256
Measured = tuple[int, int, float]


def truth(chunk_tokens: int, decodes: int) -> float:
    return 0.010 + 0.000_05 * chunk_tokens + 0.000_1 * decodes


def learned(steps: Iterable[Measured]) -> StepTime:
    step_time = StepTime(BUDGET, ROWS)
    for step in steps:
        step_time.learn(*step)
    return step_time


def varied(count: int, noise: float = 0.0, speed: float = 1.0) -> list[Measured]:
    draw = random.Random(0)  # noqa: S311
    steps = []
    for _ in range(count):
        chunk, decodes = draw.choice([0, draw.randint(1, BUDGET // 2)]), draw.randint(1, 60)
        factor = speed * max(0.2, draw.gauss(1, noise))
        steps.append((chunk, decodes, truth(chunk, decodes) * factor))
    return steps


@pytest.mark.parametrize(("chunk", "decodes"), [(0, 1), (0, 60), (64, 30), (2000, 40)])
def test_a_model_of_fixed_cost_and_cost_per_token_is_found(chunk: int, decodes: int) -> None:
    step_time = learned(varied(200))

    assert step_time.predict(chunk, decodes) == pytest.approx(truth(chunk, decodes), rel=0.02)


def test_chunk_tokens_within_a_duration_are_those_that_are_predicted_to_take_it() -> None:
    step_time = learned(varied(50, noise=0.05))

    tokens = step_time.chunk_tokens_within(0.05, 20)

    assert step_time.predict(int(tokens), 20) == pytest.approx(0.05, rel=0.01)
    assert step_time.chunk_tokens_within(0.001, 20) == 0


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.2])
def test_few_steps_take_longer_than_predicted(noise: float) -> None:
    step_time = learned(varied(100, noise))

    over = 0
    for chunk, decodes, seconds in varied(1_000, noise):
        over += seconds > step_time.predict(chunk, decodes)
        step_time.learn(chunk, decodes, seconds)

    assert over < 100


def test_a_lone_stall_changes_no_prediction() -> None:
    step_time = learned(varied(100))
    before = step_time.predict(500, 30)

    step_time.learn(500, 30, 8.0)

    assert step_time.predict(500, 30) == before


@pytest.mark.parametrize("speed", [0.3, 3.0])
def test_a_lasting_change_of_speed_is_followed(speed: float) -> None:
    step_time = learned([*varied(200), *varied(400, speed=speed)])

    assert step_time.predict(500, 30) == pytest.approx(speed * truth(500, 30), rel=0.05)


def test_dear_chunks_that_come_one_at_a_time_between_decodes_are_learned() -> None:
    decoding = [(0, 10, truth(0, 10))] * 20
    step_time = learned(decoding * 10)
    dear = 5 * truth(0, 10)

    for _ in range(20):
        step_time.learn(100, 10, dear)
        for step in decoding:
            step_time.learn(*step)

    assert step_time.predict(100, 10) == pytest.approx(dear, rel=0.1)


def test_a_stall_at_the_very_start_is_outlived() -> None:
    step_time = learned([(32, 1, 5.0), *varied(400)])

    assert step_time.predict(500, 30) == pytest.approx(truth(500, 30), rel=0.05)


@pytest.mark.parametrize("chunk", [0, 32, 1_000])
def test_long_times_of_equal_steps_do_not_unlearn_the_others(chunk: int) -> None:
    step_time = learned(varied(200))

    for _ in range(20_000):
        step_time.learn(chunk, 30, truth(chunk, 30))

    assert step_time.predict(500, 30) == pytest.approx(truth(500, 30), rel=0.05)


steps = st.tuples(
    st.integers(0, BUDGET), st.integers(0, ROWS), st.floats(0.000_1, 10, allow_nan=False)
)


@given(st.lists(steps, max_size=80))
def test_no_token_is_predicted_to_make_a_step_shorter(measured: list[Measured]) -> None:
    step_time = learned(measured)

    for chunk in (0, 100, 1_000):
        assert step_time.predict(chunk, 10) >= 0
        assert step_time.predict(chunk, 10) <= step_time.predict(chunk + 100, 10)
        assert step_time.predict(chunk, 10) <= step_time.predict(chunk, 20)
