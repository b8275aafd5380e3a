"""Every metric that rules and dashboard may name, and which of them an expression names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orthrus_operator.planner.metric_table import DEPLOYMENT_METRICS, OWN_METRICS
from orthrus_serving.server.metric_table import METRICS, REQUEST_METRICS, Metric, RequestMetric
from orthrus_serving.server.metrics_page import labels

OF_TARGETS = ("namespace", "name", "pod")
"""Labels that the scrape configuration and the PodMonitors give every series."""


@dataclass(frozen=True)
class Known:
    """A metric as its table has it; a label with an empty tuple may have any value."""

    kind: str
    meaning: str
    labels: Mapping[str, tuple[str, ...]]


_OF_VLLM = {
    "vllm:num_preemptions_total": Known(
        "counter", "requests that lost their KV cache and start again", {}
    )
}
_ROWS: tuple[Metric | RequestMetric, ...] = (*METRICS, *REQUEST_METRICS)
OF_REPLICAS: Mapping[str, Known] = {
    row.name: Known(row.kind, row.meaning, labels(row)) for row in _ROWS
}
OF_OPERATOR: Mapping[str, Known] = {
    row.name: Known("gauge", row.meaning, {row.label: row.values} if row.label else {})
    for row in DEPLOYMENT_METRICS
} | {row.name: Known(row.kind, row.meaning, row.labels) for row in OWN_METRICS}
KNOWN: Mapping[str, Known] = {**OF_REPLICAS, **OF_OPERATOR, **_OF_VLLM}

# A colon before or behind makes it the name of a recording rule.
_SERIES = re.compile(r"(?<![\w:])((?:orthrus_|vllm:)[a-z0-9_]+)(?![\w:])(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(?:=|!=|=~|!~)\s*"([^"]*)"')
_PARTS_OF_HISTOGRAMS = ("_bucket", "_sum", "_count")


def names(expression: str) -> list[str]:
    """The metrics that a PromQL expression reads, without recorded ones, in its order."""
    return [name for name, _ in selectors(expression)]


def selectors(expression: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each metric that the expression reads, with the labels and values that it asks for."""
    for series, matchers in _SERIES.findall(expression):
        yield _family(series), _MATCHER.findall(matchers)


def _family(series: str) -> str:
    """A histogram's name for one of its series."""
    for suffix in _PARTS_OF_HISTOGRAMS:
        family = series.removesuffix(suffix)
        if family != series and family in KNOWN:
            return family
    return series
