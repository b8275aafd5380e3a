"""What a run sends, and which parts of it are measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Protocol

from orthrus_serving.bench.load.clients import BusyClients, ClientSet
from orthrus_serving.bench.load.open_loop import OpenLoop
from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.load.steady import Bounds, Steady, steady
from orthrus_serving.bench.measure.window import By, Window
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.plan import Planned
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task

WHOLE = "whole run"


class Load(Protocol):
    """One way to send requests."""

    @property
    def tasks(self) -> AbstractSet[Task]:
        """Of the requests that come."""

    @property
    def by(self) -> By:
        """Which requests a window holds."""

    @property
    def seconds(self) -> float | None:
        """How long it sends, if it is known before."""

    @property
    def requests(self) -> int | None:
        """How many it sends, if it is known before."""

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        """Sends everything."""

    def windows(self, last_end: float) -> Sequence[Window]:
        """What is measured of a run whose last request ended at `last_end`; the whole is first."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the figures of a finished run must know."""

    @property
    def extra(self) -> Mapping[str, Any]:
        """Figures of a finished run that are not of its requests; plain JSON."""


class _Plain:
    """A load that has nothing to say beyond its requests."""

    @property
    def notes(self) -> Sequence[str]:
        return ()

    @property
    def extra(self) -> Mapping[str, Any]:
        return {}


@dataclass(kw_only=True)
class TimedClients(_Plain):
    """A closed loop, measured from when it is warm until there are answers enough."""

    sets: Sequence[ClientSet]
    """All with phases of the same lengths."""
    bounds: Bounds
    by = By.ENDED
    requests = None
    measured: Steady | None = field(default=None, init=False)

    @property
    def tasks(self) -> set[Task]:
        return {task for each in self.sets for task in each.workload.tasks()}

    @property
    def seconds(self) -> float:
        return self.bounds.warm_up + self.bounds.window

    @property
    def notes(self) -> Sequence[str]:
        return self.measured.notes if self.measured else ()

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        async with BusyClients(self.sets, record, now) as clients:
            self.measured = await steady(clients, record, self.tasks, self.bounds, now)

    def windows(self, last_end: float) -> Sequence[Window]:
        if self.measured is None:
            raise RuntimeError("there are no windows before the run")
        phases = self.sets[0].workload.phases
        return phase_windows(phases, self.measured.start, self.measured.end)


@dataclass(frozen=True)
class CountedClients(_Plain):
    """A closed loop of a fixed number of requests, all of them measured."""

    workload: Workload
    clients: int
    requests: int
    by = By.ENDED
    seconds = None

    @property
    def tasks(self) -> set[Task]:
        return self.workload.tasks()

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        sets = [ClientSet(self.clients, self.workload)]
        async with BusyClients(sets, record, now, self.requests) as clients:
            await clients.all_sent()

    def windows(self, last_end: float) -> Sequence[Window]:
        return [up_to(last_end)]


@dataclass(kw_only=True)
class DrawnArrivals(_Plain):
    """An open loop whose arrivals are drawn, after a warm-up with its first mix."""

    workload: Workload
    warm_up: float
    plan: Callable[[], Iterable[Planned]]
    drain: float
    by = By.PLANNED
    requests = None
    cold: set[Task] = field(default_factory=set, init=False)
    """Tasks of which nothing was answered in the warm-up."""

    @property
    def tasks(self) -> set[Task]:
        return self.workload.tasks()

    @property
    def seconds(self) -> float:
        return self.warm_up + self.workload.seconds

    @property
    def notes(self) -> Sequence[str]:
        cold = sorted(task.value for task in self.cold)
        return [f"the warm-up ended before the first answer of {task}" for task in cold]

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        await OpenLoop(self.plan, self.drain).run(record, now)
        answered = {o.task for o in record.outcomes if not o.error and o.ended < self.warm_up}
        self.cold = self.tasks - answered

    def windows(self, last_end: float) -> Sequence[Window]:
        return phase_windows(self.workload.phases, self.warm_up, self.seconds)


@dataclass(frozen=True)
class Trace(_Plain):
    """An open loop of recorded arrivals, measured until the last answer."""

    planned: Sequence[Planned]
    drain: float
    by = By.PLANNED
    seconds = None

    @property
    def tasks(self) -> set[Task]:
        return {planned.request.task for planned in self.planned}

    @property
    def requests(self) -> int:
        return len(self.planned)

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        await OpenLoop(lambda: self.planned, self.drain).run(record, now)

    def windows(self, last_end: float) -> Sequence[Window]:
        return [up_to(last_end)]


def up_to(last_end: float) -> Window:
    """Everything, the last answer included."""
    return Window(WHOLE, 0.0, last_end * (1 + 1e-12))


def phase_windows(phases: Sequence[Phase], start: float, end: float) -> Sequence[Window]:
    """All phases together, then each if there are several; the last one ends at `end`."""
    whole = Window(WHOLE, start, end)
    if len(phases) == 1:
        return [whole]
    lengths = [phase.seconds for phase in phases]
    edges = [start, *(start + passed for passed in accumulate(lengths[:-1])), end]
    return [
        whole,
        *(
            Window(f"phase {number}, {phase.mix}", *between)
            for number, (phase, between) in enumerate(
                zip(phases, pairwise(edges), strict=True), start=1
            )
        ),
    ]
