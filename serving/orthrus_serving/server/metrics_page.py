"""Writes docs/metrics.md from the metric table: `python -m orthrus_serving.server.metrics_page`."""

import sys
from collections.abc import Mapping

from orthrus_serving.scheduling.snapshot import Snapshot
from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS
from orthrus_serving.server.gpu import GpuReading
from orthrus_serving.server.metric_table import (
    METRICS,
    REQUEST_METRICS,
    Metric,
    Reading,
    RequestMetric,
)
from orthrus_serving.server.step_window import StepWindow

_HEAD = f"""# Metrics of a replica

<!-- Written by `python -m orthrus_serving.server.metrics_page > docs/metrics.md`; a test holds it
     against the code. -->

`GET /metrics` shows these beside vLLM's own `vllm:*`. They are there, at zero, before the first
request. No label depends on a request. The server asks the engine for its state once a second;
when the last answer is older than {ANSWER_BOUND_SECONDS:.0f} s, the gauges of the engine are left
out rather than shown stale (`orthrus_snapshot_age_seconds` stays), and `/health` answers 503.

`vllm:` latency histograms and `vllm:prompt_tokens_total` count embeddings and generations together.

| name | type | labels | meaning |
|---|---|---|---|
"""


def render() -> str:
    metrics: tuple[Metric | RequestMetric, ...] = (*METRICS, *REQUEST_METRICS)
    rows = [_row(metric) for metric in metrics]
    return _HEAD + "".join(f"{row}\n" for row in rows)


def labels(metric: Metric | RequestMetric) -> Mapping[str, tuple[str, ...]]:
    """The values of each of its labels; an empty tuple where any may come."""
    if isinstance(metric, RequestMetric):
        return metric.labels
    if metric.label is None:
        return {}
    zero = Reading(Snapshot(), StepWindow(), 0.0, GpuReading("0", 0.0, 0))
    return {metric.label: tuple(metric.read(zero))}


def _row(metric: Metric | RequestMetric) -> str:
    shown = "; ".join(
        f"`{name}`: {', '.join(values)}" if values else f"`{name}`"
        for name, values in labels(metric).items()
    )
    return f"| `{metric.name}` | {metric.kind} | {shown or '-'} | {metric.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(render())
