"""What a machine could do at a mix if no task ever waited for the other's devices."""

from collections.abc import Mapping

from orthrus_serving.scheduling.task import Task


def share_of_limit(rates: Mapping[Task, float], alone: Mapping[Task, float]) -> float:
    """A system's speed ÷ the work-conserving limit at the mix that it served.

    `alone` are rates of each task when all devices serve only that task. A request of a task costs
    1 ÷ its rate alone, so serving `rates` costs the sum below, of the 1 that there is. For a mix
    with shares p the limit is 1 ÷ Σ p/alone, and a system's speed divided by it is that same sum.
    """
    return sum(rate / alone[task] for task, rate in rates.items() if rate)
