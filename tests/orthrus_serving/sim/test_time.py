"""Replicas on the clock."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.sim.accelerator import A100_40GB
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEnd, FrontEndCost
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.model_shape import MISTRAL_7B
from orthrus_serving.sim.replica import Replica
from orthrus_serving.sim.replica_in_time import ReplicaInTime
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.roofline import Roofline
from tests.orthrus_serving.sim.making import MIXED, SETTINGS, E

ROOFLINE = Roofline(A100_40GB, MISTRAL_7B, 0.005, 0.85, 0.7)


class StepByStep(Replica):
    """Never says that steps are alike."""

    def steps_alike(self) -> int:
        return 0


def play(
    replica: Replica, arrivals: list[tuple[float, SimulatedRequest]]
) -> list[tuple[float, float]]:
    clock = Clock()
    in_time = ReplicaInTime(
        clock, replica, FrontEnd(FrontEndCost(0.000_2, 0.01)), lambda _r, _q: None
    )
    for moment, request in arrivals:
        clock.at(moment, lambda request=request: in_time.submit(request))  # type: ignore[misc]
    clock.run()
    assert in_time.unanswered == 0
    return [(request.first_output, request.finished) for _, request in arrivals]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["ibs", "fcfs", "homogeneous"]),
    st.floats(0.5, 40),
    st.sampled_from([400, 100_000]),
)
def test_a_leap_over_steps_alike_changes_nothing(
    seed: int, policy: str, rate: float, kv_tokens: int
) -> None:
    settings = replace(SETTINGS, policy=policy, kv=KvSpace(kv_tokens))
    results = []
    for kind in (Replica, StepByStep):
        draw = Random(seed)  # noqa: S311
        moment = 0.0
        arrivals = []
        for _ in range(25):
            moment += draw.expovariate(rate)
            arrivals.append((moment, MIXED.draw(draw)))
        replica = kind(settings, ROOFLINE)
        results.append((replica, play(replica, arrivals), arrivals))
    (leaping, times, arrivals), (stepping, expected, _) = results
    for (_, request), got, want in zip(arrivals, times, expected, strict=True):
        moments = slice(1, 2) if request.task is E else slice(0, 2)
        assert got[moments] == pytest.approx(want[moments], rel=1e-9)
    assert leaping.totals.steps == stepping.totals.steps
    assert leaping.totals.busy_seconds == pytest.approx(stepping.totals.busy_seconds)


@given(
    st.floats(0, 1),
    st.lists(st.floats(0, 0.01), min_size=1, max_size=20),
    st.integers(1, 50),
    st.floats(0, 0.001),
)
def test_a_front_end_takes_lengthening_steps_at_once_as_one_by_one(
    backlog: float, growth: list[float], tokens: int, token_seconds: float
) -> None:
    single, together = (FrontEnd(FrontEndCost(token_seconds, 1.0)) for _ in range(2))
    for front_end in (single, together):
        front_end.vector(backlog - 1)
    moment, step, ends = 0.0, 0.001, []
    for more in growth:
        step += more
        moment += step
        ends.append(moment)
    expected = [single.tokens(end, tokens) for end in ends][-1]
    assert together.steps(ends[0], ends[-1], len(ends), tokens) == pytest.approx(expected)


def test_actions_of_one_moment_happen_in_the_order_in_which_they_were_asked_for() -> None:
    clock, happened = Clock(), list[str]()
    clock.at(1.0, lambda: happened.append("b"))
    clock.at(0.5, lambda: happened.append("a"))
    clock.at(1.0, lambda: happened.append("c"))
    clock.at(2.0, lambda: happened.append("d"))
    clock.run(until=1.5)
    assert happened == ["a", "b", "c"]
    assert clock.now == 1.5


def test_what_arrives_at_one_moment_shares_the_first_step() -> None:
    replica = Replica(SETTINGS, ROOFLINE)
    play(replica, [(0.0, SimulatedRequest(E, 20, 0)) for _ in range(5)])
    assert replica.totals.steps == 1
