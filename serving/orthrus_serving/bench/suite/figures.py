"""Figures of a suite by system, cell and round."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orthrus_serving.bench.measure.spread import Spread
from orthrus_serving.bench.measure.summary import Summary, TaskSummary
from orthrus_serving.scheduling.task import Task


@dataclass
class Figures:
    """Summaries of whole runs; rounds are in order, one of each system and cell in each."""

    found: dict[tuple[str, str], list[Summary]] = field(default_factory=lambda: defaultdict(list))

    def add(self, system: str, cell: str, summary: Summary) -> None:
        self.found[system, cell].append(summary)

    def rates(self, system: str, cell: str, task: Task | None = None) -> list[float]:
        """Requests per second in each round, of one task or of both."""
        return [
            summary.requests_per_second if task is None else _rate(summary.tasks, task)
            for summary in self.found[system, cell]
        ]

    def percentile(self, system: str, cell: str, task: Task, name: str) -> list[float | None]:
        """Of the end-to-end latency in each round, in seconds; None where no answer came."""
        return [
            getattr(spread, name) if (spread := _latency(summary, task)) else None
            for summary in self.found[system, cell]
        ]


def _latency(summary: Summary, task: Task) -> Spread | None:
    return summary.tasks[task].latency if task in summary.tasks else None


def _rate(tasks: Mapping[Task, TaskSummary], task: Task) -> float:
    return tasks[task].requests_per_second if task in tasks else 0.0


def ratios(first: Sequence[float | None], second: Sequence[float | None]) -> list[float]:
    """Of pairs from the same rounds; where one of the two was not measured there is none."""
    return [a / b for a, b in zip(first, second, strict=True) if a is not None and b]
