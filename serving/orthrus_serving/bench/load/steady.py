"""When a closed loop is warm, and when it has measured enough."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from operator import gt, le

from orthrus_serving.bench.load.clients import BusyClients
from orthrus_serving.bench.load.record import Record
from orthrus_serving.scheduling.task import Task

TURNS = 2
"""How often all open requests have ended when a load is warm. When those of the start have, slow
ones are open as often as they will be; when the next ones have, all that comes was sent into that
load."""


@dataclass(frozen=True)
class Bounds:
    """Of a run, in seconds."""

    warm_up: float
    """At least."""
    warm_up_most: float
    window: float
    """At least; the window is extended by as much again while answers are missing."""
    window_most: float
    answers: int
    """Of each task, in the window."""


@dataclass(frozen=True)
class Steady:
    """The measured part of a run, in seconds after its start."""

    start: float
    end: float
    notes: Sequence[str]
    """Which bounds ended it before it was as it should be."""


async def steady(
    clients: BusyClients,
    record: Record,
    tasks: AbstractSet[Task],
    bounds: Bounds,
    now: Callable[[], float],
) -> Steady:
    """Waits until clients are warm, then until they have measured enough."""
    notes = await _warm_up(clients, record, tasks, bounds, now)
    clients.measured_from = start = end = now()
    before = record.answered.copy()
    last = start + bounds.window_most
    found = {task: 0 for task in Task if task in tasks}
    while end == start or (end < last and min(found.values()) < bounds.answers):
        # By whole windows: one that ended with the last answer wanted would flatter the rate.
        end = min(end + bounds.window, last)
        await clients.until(lambda: False, end)
        found = {task: record.answered[task] - before[task] for task in found}
    if min(found.values()) < bounds.answers:
        notes.append(
            f"the window ended at its bound of {bounds.window_most:g} s with "
            f"{_listed(f'{n} {task.value}' for task, n in found.items())} answers: "
            f"{bounds.answers} of each were wanted"
        )
    return Steady(start, end, notes)


async def _warm_up(
    clients: BusyClients,
    record: Record,
    tasks: AbstractSet[Task],
    bounds: Bounds,
    now: Callable[[], float],
) -> list[str]:
    began = now()
    deadline = began + bounds.warm_up_most
    at_its_bound = f"the warm-up ended at its bound of {bounds.warm_up_most:g} s"
    for turn in range(1, TURNS + 1):
        before = list(clients.finished)
        if not await clients.until(partial(_have_all_answered, clients, before), deadline):
            late = sum(map(le, clients.finished, before))
            return [f"{at_its_bound}: {late} clients waited in turn {turn} of {TURNS}"]
    if not await clients.until(lambda: all(record.answered[task] for task in tasks), deadline):
        missing = _listed(t.value for t in Task if t in tasks and not record.answered[t])
        return [f"{at_its_bound} before the first answer of {missing}"]
    await clients.until(lambda: False, began + bounds.warm_up)
    return []


def _have_all_answered(clients: BusyClients, before: Sequence[int]) -> bool:
    """Whether a request of each client has ended since they had finished `before`."""
    return all(map(gt, clients.finished, before))


def _listed(texts: Iterable[str]) -> str:
    return " and ".join(texts)
