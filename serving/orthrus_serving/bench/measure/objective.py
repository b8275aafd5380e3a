"""Service-level objectives: which answers are good."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.scheduling.task import Task

Measure = Callable[[Outcome], float | None]

MEASURES: dict[str, Measure] = {
    "total": lambda outcome: outcome.latency,
    "ttft": lambda outcome: outcome.first_token,
    "gap": lambda outcome: max(outcome.gaps, default=None),
    "tpot": lambda outcome: outcome.seconds_per_token,
}


@dataclass(frozen=True)
class Objective:
    """`task.measure=milliseconds`, as `generation.ttft=500`; `gap` is a request's longest."""

    task: Task
    measure: str
    milliseconds: float

    def __str__(self) -> str:
        return f"{self.task.value}.{self.measure}={self.milliseconds:g}"

    def is_met(self, outcome: Outcome) -> bool:
        """Also by a request that lacks the measure: one token has no gap."""
        seconds = MEASURES[self.measure](outcome)
        return seconds is None or seconds * 1000 <= self.milliseconds


def parse_objective(text: str) -> Objective:
    """The objective that `text` names.

    Raises:
        ValueError: not of that form.
    """
    name, _, bound = text.partition("=")
    task, _, measure = name.partition(".")
    try:
        objective = Objective(Task(task), measure, float(bound))
        MEASURES[measure]
    except (ValueError, KeyError):
        raise ValueError(
            f"objective {text!r}: write TASK.MEASURE=MILLISECONDS with a task of "
            f"{', '.join(t.value for t in Task)} and a measure of {', '.join(MEASURES)}"
        ) from None
    return objective


def is_good(outcome: Outcome, objectives: Sequence[Objective]) -> bool:
    """Whether an answer came, and met every objective of its task."""
    return outcome.error is None and all(
        objective.is_met(outcome) for objective in objectives if objective.task is outcome.task
    )
