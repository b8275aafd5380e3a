"""Renders the metric table from the last snapshot whenever Prometheus asks."""

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from orthrus_serving.scheduling.snapshot import STEP_SECONDS_BOUNDS, Durations
from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS, EngineMonitor
from orthrus_serving.server.gpu import Gpu
from orthrus_serving.server.lifecycle import Lifecycle
from orthrus_serving.server.metric_table import METRICS, Reading, Value
from orthrus_serving.server.metric_table import Metric as Row

_FAMILIES: Mapping[str, Any] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
    "info": InfoMetricFamily,
}
_BOUNDS = (*map(str, STEP_SECONDS_BOUNDS), "+Inf")


class SnapshotCollector(Collector):
    """Counters always; gauges of the engine only while the snapshot is fresh.

    A stale gauge would tell the autoscaler a backlog that is no longer true.
    """

    def __init__(self, monitor: EngineMonitor, gpu: Gpu, lifecycle: Lifecycle) -> None:
        self._monitor = monitor
        self._gpu = gpu
        self._lifecycle = lifecycle

    def describe(self) -> Iterable[Metric]:
        return [_family(row, {}) for row in METRICS]

    def collect(self) -> Iterable[Metric]:
        reading = self._reading()
        fresh = reading.snapshot_age <= ANSWER_BOUND_SECONDS
        for row in METRICS:
            if row.kind == "gauge" and row.of_engine and not fresh:
                continue
            yield _family(row, row.read(reading))

    def _reading(self) -> Reading:
        monitor = self._monitor
        return Reading(
            monitor.snapshot,
            monitor.window,
            monitor.snapshot_age,
            self._gpu.read(),
            self._lifecycle.models(),
        )


def _family(row: Row, values: Mapping[str, Value]) -> Metric:
    # The library puts the suffix of an info back.
    name, labels = row.name.removesuffix("_info"), [row.label] if row.label else []
    family: Any = _FAMILIES[row.kind](name, row.meaning, labels=labels)
    for value_of_label, value in values.items():
        label_values = [value_of_label] if row.label else []
        if isinstance(value, Durations):
            buckets = list(zip(_BOUNDS, accumulate(value.counts), strict=True))
            family.add_metric(label_values, buckets, value.total)
        elif isinstance(value, Mapping):
            family.add_metric(label_values, dict(value))
        else:
            family.add_metric(label_values, value)
    found: Metric = family
    return found
