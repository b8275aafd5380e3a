"""What a run sends, and which parts of it are measured."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from orthrus_serving.bench.load.closed_loop import ClosedLoop
from orthrus_serving.bench.load.open_loop import OpenLoop
from orthrus_serving.bench.load.record import Record
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


@dataclass(frozen=True, kw_only=True)
class _Timed:
    """For the length of a workload, after a warm-up with its first mix."""

    workload: Workload
    warm_up: float
    requests = None

    @property
    def tasks(self) -> set[Task]:
        return self.workload.tasks()

    @property
    def seconds(self) -> float:
        return self.warm_up + self.workload.seconds

    def windows(self, last_end: float) -> Sequence[Window]:
        return phase_windows(self.workload.phases, self.warm_up)


@dataclass(frozen=True, kw_only=True)
class TimedClients(_Timed):
    """A closed loop."""

    clients: int
    by = By.ENDED

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        await ClosedLoop(self.clients).run(record, self.workload, self.warm_up, now)


@dataclass(frozen=True)
class CountedClients:
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
        await ClosedLoop(self.clients, self.requests).run(record, self.workload, 0.0, now)

    def windows(self, last_end: float) -> Sequence[Window]:
        return [up_to(last_end)]


@dataclass(frozen=True, kw_only=True)
class DrawnArrivals(_Timed):
    """An open loop whose arrivals are drawn."""

    plan: Callable[[], Iterable[Planned]]
    drain: float
    by = By.PLANNED

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        await OpenLoop(self.plan, self.drain).run(record, now)


@dataclass(frozen=True)
class Trace:
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


def phase_windows(phases: Sequence[Phase], warm_up: float) -> Sequence[Window]:
    """All phases together, then each if there are several."""
    windows = []
    start = warm_up
    for number, phase in enumerate(phases, start=1):
        windows.append(Window(f"phase {number}, {phase.mix}", start, start + phase.seconds))
        start += phase.seconds
    whole = Window(WHOLE, warm_up, start)
    return [whole, *windows] if len(windows) > 1 else [whole]
