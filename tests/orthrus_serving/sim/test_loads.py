"""Lengths, mixes and arrivals."""

from random import Random

import pytest

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.lengths import Exponential, Fixed, Uniform, parse_lengths
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.sources import ClosedLoop, Phase, Poisson
from tests.orthrus_serving.sim.making import MIXED, E, fixed_mix


@pytest.mark.parametrize(
    ("text", "lengths"),
    [("128", Fixed(128)), ("64-512", Uniform(64, 512)), ("exp:500:2000", Exponential(500, 2000))],
)
def test_lengths_are_read_as_they_are_written(text: str, lengths: object) -> None:
    assert parse_lengths(text) == lengths


@pytest.mark.parametrize("text", ["", "0", "-5", "many", "512-64", "1-2-3", "exp:5", "exp:9:2"])
def test_lengths_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="lengths"):
        parse_lengths(text)


def test_drawn_lengths_keep_to_their_bounds_and_mean() -> None:
    random = Random(0)  # noqa: S311
    drawn = [Exponential(500, 2000).draw(random) for _ in range(5_000)]
    assert min(drawn) >= 1
    assert max(drawn) == 2000
    assert sum(drawn) / len(drawn) == pytest.approx(491, rel=0.05)


def test_a_mix_has_its_share_of_embeddings() -> None:
    random = Random(0)  # noqa: S311
    mix = fixed_mix(0.9, embedding=10, prompt=20, output=30)
    drawn = [mix.draw(random) for _ in range(5_000)]
    assert sum(request.task is E for request in drawn) / 5_000 == pytest.approx(0.9, abs=0.02)
    assert {request.output_tokens for request in drawn if request.task is not E} == {30}
    with pytest.raises(ValueError, match="the embedding share is"):
        Mix(1.5, Fixed(1), Fixed(1), Fixed(1))


def arrivals_of(source: Poisson) -> list[tuple[float, SimulatedRequest]]:
    clock = Clock()
    arrived = list[tuple[float, SimulatedRequest]]()
    source.start(clock, lambda request: arrived.append((clock.now, request)))
    clock.run()
    return arrived


def test_phases_follow_one_another_with_their_own_rate_and_mix() -> None:
    only_embeddings = fixed_mix(1.0, embedding=10, prompt=20, output=30)
    only_generations = fixed_mix(0.0, embedding=10, prompt=20, output=30)
    phases = [Phase(only_embeddings, 100, 20), Phase(only_generations, 10, 100)]
    arrived = arrivals_of(Poisson(phases, Random(0)))  # noqa: S311
    first = [request for moment, request in arrived if moment <= 20]
    second = [request for moment, request in arrived if moment > 20]
    assert all(request.task is E for request in first)
    assert not any(request.task is E for request in second)
    assert len(first) == pytest.approx(2_000, rel=0.1)
    assert len(second) == pytest.approx(1_000, rel=0.1)
    assert arrived[-1][0] <= 120


def test_a_count_ends_the_arrivals() -> None:
    assert len(arrivals_of(Poisson([Phase(MIXED, 10)], Random(0), count=17))) == 17  # noqa: S311


def test_a_closed_loop_sends_one_request_for_each_answer_and_ends_in_time() -> None:
    clock, sent = Clock(), list[SimulatedRequest]()
    loop = ClosedLoop(MIXED, 3, Random(0), until=10.0)  # noqa: S311
    loop.start(clock, sent.append)
    assert len(sent) == 3
    loop.answered(sent[0])
    assert len(sent) == 4
    clock.at(10.0, lambda: loop.answered(sent[1]))
    clock.run()
    assert len(sent) == 4


@pytest.mark.parametrize(("rate", "seconds"), [(0, 1), (1, 0), (-1, 1)])
def test_a_phase_without_arrivals_is_refused(rate: float, seconds: float) -> None:
    with pytest.raises(ValueError, match="both must be above 0"):
        Phase(MIXED, rate, seconds)


def test_a_closed_loop_without_clients_is_refused() -> None:
    with pytest.raises(ValueError, match="0 clients"):
        ClosedLoop(MIXED, 0, Random(0))  # noqa: S311
