"""Fleets: what may differ between sizes and routers, and what may not."""

import pytest

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.fleet import FleetFigures, FleetLoad, run_fleet
from orthrus_serving.sim.front_end import FrontEndCost
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Phase, Poisson
from tests.orthrus_serving.sim.making import COST, MIXED, SETTINGS, fixed_mix

KIND = ReplicaKind(SETTINGS, COST, FrontEndCost(vector=0.35))
SHORT = fixed_mix(0.5, embedding=100, prompt=100, output=20)
LOAD = FleetLoad(SHORT, rate=4.0, warm_up=30.0, seconds=60.0)
"""The queue for the front end, which is busy 70 % of the time, takes seconds to be what it is."""


def fleet(size: int, router: str = "random", runs: int = 1) -> FleetFigures:
    return run_fleet(Setup("unified", (size,), KIND, router), LOAD, runs, seed=0)


def p90(found: FleetFigures) -> float:
    """The 99th percentile would need a run ten times as long."""
    assert found.embedding.latency is not None
    return found.embedding.latency.p90


def test_every_size_does_the_same_work_per_replica() -> None:
    for size, runs in ((1, 16), (4, 4), (16, 1)):
        found = fleet(size, runs=runs)
        assert found.runs == runs
        assert found.requests / 16 == pytest.approx(LOAD.rate * LOAD.seconds, rel=0.05)
        seen = found.embedding.requests_per_second + found.generation.requests_per_second
        assert seen / size == pytest.approx(LOAD.rate, rel=0.05)


def test_with_a_random_router_a_fleet_is_as_slow_as_single_replicas() -> None:
    """Arrivals that are split at random are Poisson at each replica, whatever the size."""
    assert p90(fleet(16)) == pytest.approx(p90(fleet(1, runs=16)), rel=0.1)


def test_what_a_fleet_does_before_the_warm_up_is_over_does_not_count() -> None:
    cold = FleetLoad(SHORT, LOAD.rate, warm_up=0.0, seconds=3.0)
    found = run_fleet(Setup("unified", (16,), KIND, "random"), cold, 1, seed=0)
    assert p90(found) < 0.8 * p90(fleet(16))


def sent(setup: Setup, seed: int) -> list[tuple[str, float, int, int]]:
    """Each request's arrival and size, in order."""
    clock = Clock()
    source = Poisson([Phase(MIXED, 30.0)], draws(seed, "work"), count=300)
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), source)
    simulation.run()
    return sorted(
        (task.value, *each)
        for task, record in simulation.records.items()
        for each in zip(record.arrived, record.prompt_tokens, record.output_tokens, strict=True)
    )


def test_the_router_does_not_change_the_work() -> None:
    work = [sent(Setup("unified", (4,), KIND, router), 3) for router in ("random", "least-loaded")]
    assert work[0] == work[1]
    assert work[0] != sent(Setup("unified", (4,), KIND), 4)


def test_a_window_that_measures_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="the latter above 0"):
        FleetLoad(SHORT, 1.0, warm_up=1.0, seconds=0.0)
