"""What is divided of a system and of a baseline, under one load."""

from collections.abc import Callable
from dataclasses import dataclass

from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.bench.retgen.findings import EXTRA
from orthrus_serving.bench.suite.cell import Cell
from orthrus_serving.bench.suite.figures import Figures, OfRounds
from orthrus_serving.bench.suite.system import System
from orthrus_serving.scheduling.task import Task

Find = Callable[[str, str], OfRounds]
"""A figure by the names of a system and a load."""


@dataclass(frozen=True)
class Beside:
    """`system` ÷ `baseline`."""

    figures: Figures
    system: System
    baseline: System
    cell: Cell

    def row(self, what: str, find: Find, goal: Goal | None = None) -> Comparison:
        first, second = (find(s.name, self.cell.name) for s in (self.system, self.baseline))
        name = f"{self.cell.name}, {self.system.name} ÷ {self.baseline.name}"
        return Comparison.of_pairs(name, what, self.figures.pairs(first, second), goal)

    def rate(self, task: Task) -> Comparison:
        return self.row(
            f"{task.value} requests per second",
            lambda system, cell: self.figures.rates(system, cell, task),
        )

    def latency(self, task: Task, percentile: str, goal: Goal | None = None) -> Comparison:
        return self.row(
            f"{task.value} {percentile} latency",
            lambda system, cell: self.figures.percentile(system, cell, task, percentile),
            goal,
        )

    def query(self, what: str, *path: str) -> Comparison:
        return self.row(
            what, lambda system, cell: self.figures.beyond_requests(system, cell, EXTRA, *path)
        )

    @property
    def tasks(self) -> list[Task]:
        """That the load has."""
        latencies = self.figures.latencies
        return [t for t in Task if any(latencies(self.system.name, self.cell.name, t).values())]


Rows = Callable[[Beside], list[Comparison]]


def mixed(
    beside: Beside, throughput: Goal | None = None, tail: Goal | None = None
) -> list[Comparison]:
    """Throughput of both tasks, since both sides answer the same mix, and each task's tail."""
    return [
        beside.row("requests per second", beside.figures.rates, throughput),
        *(
            beside.latency(task, "p99", tail if task is Task.GENERATION else None)
            for task in beside.tasks
        ),
    ]


def each_task(beside: Beside) -> list[Comparison]:
    """Each by itself: clients of their own keep to no common mix."""
    return [
        row
        for task in beside.tasks
        for row in (
            beside.rate(task),
            beside.latency(task, "p50"),
            beside.latency(task, "p99"),
        )
    ]


def whole_queries(beside: Beside) -> list[Comparison]:
    """Iterative retrieval-generation as who asks sees it, then its requests."""
    return [
        beside.query("queries per second", "queries_per_second"),
        beside.query("whole-query p50 latency", "latency", "p50"),
        # Of fewer queries than a p99 needs: each takes seconds on a core.
        beside.query("whole-query p90 latency", "latency", "p90"),
        *mixed(beside),
    ]
