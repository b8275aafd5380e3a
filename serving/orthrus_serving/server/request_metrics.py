"""Counts and times requests as HTTP clients see them: vLLM's own metrics mix the two tasks."""

from collections.abc import Iterable, Sequence
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from orthrus_serving.server.metric_table import (
    BROKEN_VECTORS,
    FIRST_OUTPUT_SECONDS,
    REJECTED,
    REQUEST_SECONDS,
    REQUESTS,
    STATUSES,
    TASKS,
    RequestMetric,
)

UNKNOWN_MODEL = "unknown"
"""Label of requests that name no served model: a label of theirs would have no bound."""

Status = Literal["ok", "client_error", "server_error", "aborted"]
Rejection = Literal["queue_full", "draining"]

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0, 180.0, 600.0)
"""Seconds: from one short embedding on a GPU to a long generation on a CPU."""


class RequestMetrics(Collector):
    """Each series is there, at zero, from the moment that its model is known."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter(REQUESTS)
        self._seconds = self._histogram(REQUEST_SECONDS)
        self._first_output = self._histogram(FIRST_OUTPUT_SECONDS)
        self._rejected = self._counter(REJECTED)
        self._broken_vectors = self._counter(BROKEN_VECTORS)
        for reason in REJECTED.labels["reason"]:
            self._rejected.labels(reason)
        self.expect_models([UNKNOWN_MODEL])

    def expect_models(self, names: Sequence[str]) -> None:
        for name in names:
            for task in TASKS:
                self._seconds.labels(task, name)
                self._first_output.labels(task, name)
                for status in STATUSES:
                    self._requests.labels(task, name, status)

    def first_output(self, task: str, model: str | None, seconds: float) -> None:
        self._first_output.labels(task, model or UNKNOWN_MODEL).observe(seconds)

    def answered(self, task: str, model: str | None, status: Status, seconds: float) -> None:
        self._requests.labels(task, model or UNKNOWN_MODEL, status).inc()
        self._seconds.labels(task, model or UNKNOWN_MODEL).observe(seconds)

    def rejected(self, reason: Rejection) -> None:
        self._rejected.labels(reason).inc()

    def broken_vectors(self, number: int) -> None:
        self._broken_vectors.inc(number)

    def collect(self) -> Iterable[Metric]:
        """Without the `_created` series, which no dashboard needs and which are never zero."""
        for metric in self._registry.collect():
            metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
            yield metric

    def _counter(self, row: RequestMetric) -> Counter:
        return Counter(row.name, row.meaning, tuple(row.labels), registry=self._registry)

    def _histogram(self, row: RequestMetric) -> Histogram:
        return Histogram(
            row.name, row.meaning, tuple(row.labels), buckets=_BUCKETS, registry=self._registry
        )
