"""Fleets of any size under the same load per replica."""

from dataclasses import dataclass

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.record import Record, new_records
from orthrus_serving.sim.report import report
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Phase, Poisson
from orthrus_serving.sim.summary import TaskSummary, summarize


@dataclass(frozen=True)
class FleetLoad:
    """Poisson arrivals at `rate` per second and replica: `warm_up` seconds that do not count, then
    `seconds` that do. Both are the same for every size, or a fleet would look the better the
    shorter it ran: queues that grow slowly and answers that take long are not there at first.

    Raises ValueError for a window that measures nothing.
    """

    mix: Mix
    rate: float
    warm_up: float
    seconds: float

    def __post_init__(self) -> None:
        if self.warm_up < 0 or self.seconds <= 0:
            raise ValueError(
                f"{self.warm_up:g} s of warm-up and {self.seconds:g} s after it: the former must "
                "be at least 0 and the latter above 0"
            )

    @property
    def end(self) -> float:
        return self.warm_up + self.seconds


@dataclass(frozen=True)
class FleetFigures:
    """Of what was answered after the warm-up, in all runs. `busy`: share of their time, warm-up
    included, in which replicas had a step on.
    """

    runs: int
    embedding: TaskSummary
    generation: TaskSummary
    busy: float

    @property
    def requests(self) -> int:
        return self.embedding.requests + self.generation.requests


def run_fleet(setup: Setup, load: FleetLoad, runs: int, seed: int) -> FleetFigures:
    """`runs` runs of the fleet, each with draws of its own."""
    together = new_records()
    busy = 0.0
    for run in range(runs):
        simulation = _run(setup, load, seed * runs + run)
        busy += report(simulation, load.warm_up, load.end).pools[0].busy / runs
        for task, record in simulation.records.items():
            together[task].extend(record)
    return FleetFigures(
        runs,
        _summarize(together[Task.EMBEDDING], load, runs),
        _summarize(together[Task.GENERATION], load, runs),
        busy,
    )


def _run(setup: Setup, load: FleetLoad, seed: int) -> Simulation:
    clock = Clock()
    rate = load.rate * sum(setup.replicas)
    source = Poisson([Phase(load.mix, rate)], draws(seed, "work"))
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), source)
    simulation.run(load.end)
    return simulation


def _summarize(record: Record, load: FleetLoad, runs: int) -> TaskSummary:
    return summarize(record, load.warm_up, load.end, runs)
