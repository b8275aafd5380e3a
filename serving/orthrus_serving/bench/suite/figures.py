"""Figures of a suite by system, cell and round."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthrus_serving.bench.measure.ratios import Pair
from orthrus_serving.bench.measure.spread import Spread
from orthrus_serving.bench.measure.summary import Summary
from orthrus_serving.scheduling.task import Task

OfRounds = Mapping[int, float | None]
"""A figure by round; a round without it was not measured."""


@dataclass(frozen=True)
class Measured:
    """What is kept of a result."""

    summary: Summary
    """Of the whole run."""
    notes: Sequence[str] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Figures:
    """One result of each system and cell in each round, but for those that failed."""

    rounds: int = 0
    """That have begun."""
    found: dict[tuple[str, str], dict[int, Measured]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    failures: list[str] = field(default_factory=list)
    """Where and why nothing was measured."""

    def add(self, system: str, cell: str, number: int, measured: Measured) -> None:
        self.found[system, cell][number] = measured

    def has_round(self, number: int) -> bool:
        """Whether anything of a round is here."""
        return any(number in measured for measured in self.found.values())

    def rates(self, system: str, cell: str, task: Task | None = None) -> dict[int, float]:
        """Requests per second, of one task or of both."""
        return {
            number: measured.summary.requests_per_second
            if task is None
            else _rate(measured.summary, task)
            for number, measured in self._of(system, cell).items()
        }

    def percentile(self, system: str, cell: str, task: Task, name: str) -> OfRounds:
        """Of the end-to-end latency, in seconds; None where too few answers came."""
        return {
            number: getattr(spread, name) if spread else None
            for number, spread in self.latencies(system, cell, task).items()
        }

    def latencies(self, system: str, cell: str, task: Task) -> Mapping[int, Spread | None]:
        """End to end."""
        return {
            number: measured.summary.tasks[task].latency if task in measured.summary.tasks else None
            for number, measured in self._of(system, cell).items()
        }

    def beyond_requests(self, system: str, cell: str, *path: str) -> OfRounds:
        """A figure beside those of requests, by its path in the result's file."""
        return {number: _at(m.extra, path) for number, m in self._of(system, cell).items()}

    def pairs(self, first: OfRounds, second: OfRounds) -> list[Pair]:
        """Of every round that has begun."""
        return [
            Pair(f"round {number + 1}", first.get(number), second.get(number))
            for number in range(self.rounds)
        ]

    def _of(self, system: str, cell: str) -> Mapping[int, Measured]:
        return self.found.get((system, cell), {})


def _rate(summary: Summary, task: Task) -> float:
    return summary.tasks[task].requests_per_second if task in summary.tasks else 0.0


def _at(found: Any, path: Sequence[str]) -> float | None:
    for name in path:
        found = found.get(name) if found else None
    return found if found is None else float(found)
