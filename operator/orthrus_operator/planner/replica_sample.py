"""What a replica's /metrics says, of what the operator needs."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orthrus_operator.api.status import LONGEST_SPACE
from orthrus_operator.planner.exposition import samples_of

_SCHEDULED = "orthrus_scheduled_tokens_total"
_BUDGET = "orthrus_token_budget_total"
_BUSY = "orthrus_busy_ratio"
_BACKLOG = "orthrus_backlog_tokens"
_GPU = "orthrus_gpu_utilization_ratio"
_IN_FLIGHT = ("vllm:num_requests_running", "vllm:num_requests_waiting")
_SPACE = "orthrus_embedding_space_info"
READ_METRICS = (_SCHEDULED, _BUDGET, _BUSY, _BACKLOG, _GPU, _SPACE, *_IN_FLIGHT)
"""Names of all that is read."""


@dataclass(frozen=True)
class ReplicaSample:
    """One scrape of one replica. What it left out, or gave as NaN, is absent here."""

    scheduled_tokens: Mapping[str, float] = field(default_factory=dict)
    """Since its start, by batch unit."""
    token_budget: float | None = None
    """Since its start."""
    busy_ratio: float | None = None
    backlog_tokens: Mapping[str, float] = field(default_factory=dict)
    """By type; empty when its engine does not answer it."""
    gpu_utilization: tuple[float, ...] = ()
    """One for each GPU."""
    requests_in_flight: float | None = None
    """Running and waiting."""
    embedding_spaces: Mapping[str, str] = field(default_factory=dict)
    """Identifier of the space of its vectors, by the name of each model that embeds."""


def replica_sample(exposition: str) -> ReplicaSample:
    """Reads text in Prometheus' format; raises ValueError when it is not that."""
    scheduled: dict[str, float] = {}
    backlog: dict[str, float] = {}
    single: dict[str, float] = {}
    gpus: list[float] = []
    spaces: dict[str, str] = {}
    for name, labels, value in _samples(exposition):
        if name == _SCHEDULED:
            scheduled[labels.get("unit", "")] = value
        elif name == _BACKLOG:
            backlog[labels.get("type", "")] = value
        elif name == _GPU:
            gpus.append(value)
        elif name == _SPACE:
            spaces[labels.get("model", "")] = labels.get("space", "")[:LONGEST_SPACE]
        else:
            single[name] = single.get(name, 0.0) + value
    in_flight = [single[name] for name in _IN_FLIGHT if name in single]
    return ReplicaSample(
        scheduled_tokens=scheduled,
        token_budget=single.get(_BUDGET),
        busy_ratio=single.get(_BUSY),
        backlog_tokens=backlog,
        gpu_utilization=tuple(gpus),
        requests_in_flight=sum(in_flight) if in_flight else None,
        embedding_spaces=spaces,
    )


def _samples(exposition: str) -> Iterable[tuple[str, Mapping[str, str], float]]:
    for sample in samples_of(exposition, READ_METRICS):
        if sample.name in READ_METRICS and math.isfinite(sample.value):
            yield sample.name, sample.labels, sample.value
