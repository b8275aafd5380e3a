"""The operator's own metrics, counted as it works, and those of the objects, as last seen."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from orthrus_operator.planner.deployment_load import DeploymentLoad
from orthrus_operator.planner.metric_table import (
    API_REQUESTS,
    DEPLOYMENT_METRICS,
    OLDEST_WAITING_SECONDS,
    QUEUE_SECONDS,
    RECONCILE_SECONDS,
    RECONCILES,
    RESULTS,
    DeploymentMetric,
    OwnMetric,
    ReplicaCounts,
)
from orthrus_operator.reconciler.outcome import ObjectKey


class OperatorMetrics:
    """Counts, into a registry of its own."""

    def __init__(self) -> None:
        # A `_created` series beside every counter and histogram: no one asks for it.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._reconcile_seconds = self._histogram(RECONCILE_SECONDS)
        self._queue_seconds = self._histogram(QUEUE_SECONDS)
        self._reconciles = self._counter(RECONCILES)
        self._api_requests = self._counter(API_REQUESTS)
        self._oldest_waiting = Gauge(
            OLDEST_WAITING_SECONDS.name, OLDEST_WAITING_SECONDS.meaning, registry=self.registry
        )
        for result in RESULTS:  # There at 0, so that a first failure is a rise.
            self._reconciles.labels(result)

    def reconciled(self, result: str, seconds: float) -> None:
        self._reconciles.labels(result).inc()
        self._reconcile_seconds.observe(seconds)

    def waited(self, seconds: float) -> None:
        self._queue_seconds.observe(seconds)

    def show_oldest_waiting(self, seconds: Callable[[], float]) -> None:
        """`seconds` is called whenever Prometheus asks."""
        self._oldest_waiting.set_function(seconds)

    def requested(self, verb: str, resource: str, code: str) -> None:
        self._api_requests.labels(verb, resource, code).inc()

    def _histogram(self, metric: OwnMetric) -> Histogram:
        return Histogram(
            metric.name,
            metric.meaning,
            metric.labels,
            buckets=metric.buckets,
            registry=self.registry,
        )

    def _counter(self, metric: OwnMetric) -> Counter:
        return Counter(metric.name, metric.meaning, metric.labels, registry=self.registry)


class Seen(Protocol):
    """Whoever looks at the objects."""

    def deployments(self) -> Mapping[ObjectKey, tuple[ReplicaCounts, DeploymentLoad]]:
        """As last seen; empty when that was too long ago to be true."""


class DeploymentCollector(Collector):
    """Renders what was seen whenever Prometheus asks."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def describe(self) -> Iterable[Metric]:
        return [_family(metric) for metric in DEPLOYMENT_METRICS]

    def collect(self) -> Iterable[Metric]:
        deployments = self._seen.deployments()
        for metric in DEPLOYMENT_METRICS:
            family = _family(metric)
            for key, (counts, load) in deployments.items():
                for value_of_label, value in metric.read(counts, load).items():
                    label = [value_of_label] if metric.label else []
                    family.add_metric([*key, *label], value)
            yield family


def _family(metric: DeploymentMetric) -> GaugeMetricFamily:
    labels = ["namespace", "name", *([metric.label] if metric.label else [])]
    return GaugeMetricFamily(metric.name, metric.meaning, labels=labels)
