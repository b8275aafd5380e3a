"""Renders the metric table from the last snapshot whenever Prometheus asks."""

from collections.abc import Callable, Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS, EngineMonitor
from orthrus_serving.server.metric_table import METRICS, Reading
from orthrus_serving.server.metric_table import Metric as Row


class SnapshotCollector(Collector):
    """Counters always; gauges of the engine only while the snapshot is fresh.

    A stale gauge would tell the autoscaler a backlog that is no longer true.
    """

    def __init__(self, monitor: EngineMonitor) -> None:
        self._monitor = monitor

    def describe(self) -> Iterable[Metric]:
        return [_family(row) for row in METRICS]

    def collect(self) -> Iterable[Metric]:
        reading = self._reading()
        fresh = reading.snapshot_age <= ANSWER_BOUND_SECONDS
        for row in METRICS:
            if row.kind == "gauge" and row.of_engine and not fresh:
                continue
            family = _family(row)
            for value_of_label, value in row.read(reading).items():
                family.add_metric([value_of_label] if row.label else [], value)
            yield family

    def _reading(self) -> Reading:
        window = self._monitor.window
        return Reading(
            snapshot=self._monitor.snapshot,
            mix_ratio=window.mix_ratio,
            fill_ratio=window.fill_ratio,
            snapshot_age=self._monitor.snapshot_age,
        )


_FAMILY: dict[str, Callable[..., CounterMetricFamily | GaugeMetricFamily]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
}


def _family(row: Row) -> CounterMetricFamily | GaugeMetricFamily:
    return _FAMILY[row.kind](row.name, row.meaning, labels=[row.label] if row.label else [])
