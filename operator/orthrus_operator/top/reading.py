"""What one replica's /metrics says, of what `orthrus top` shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from orthrus_operator.planner.exposition import samples_of
from orthrus_operator.planner.replica_sample import ReplicaSample, replica_sample
from orthrus_operator.top.latency import Buckets

_REQUEST_SECONDS = "orthrus_request_seconds"
_FIRST_OUTPUT_SECONDS = "orthrus_time_to_first_token_seconds"
_KV_CACHE = "orthrus_kv_cache_usage_ratio"
READ_METRICS = (_REQUEST_SECONDS, _FIRST_OUTPUT_SECONDS, _KV_CACHE)
"""Names of all that is read here, besides what a ReplicaSample holds."""


@dataclass(frozen=True)
class Reading:
    """One look at one replica."""

    sample: ReplicaSample
    request_seconds: Mapping[str, Buckets] = field(default_factory=dict)
    """By type, over all models."""
    first_output_seconds: Mapping[str, Buckets] = field(default_factory=dict)
    """To the first token or vector; by type, over all models."""
    kv_cache_usage: float | None = None


def reading(exposition: str) -> Reading:
    """Reads text in Prometheus' format; raises ValueError when it is not that."""
    histograms: dict[str, dict[str, dict[float, float]]] = {}
    usage = None
    for sample in samples_of(exposition, READ_METRICS):
        name, labels = sample.name, sample.labels
        if name == _KV_CACHE:
            usage = sample.value
        elif name.endswith("_bucket"):
            of_type = histograms.setdefault(name.removesuffix("_bucket"), {})
            counts = of_type.setdefault(labels["type"], {})
            bound = float(labels["le"])
            counts[bound] = counts.get(bound, 0.0) + sample.value
    return Reading(
        replica_sample(exposition),
        _buckets(histograms.get(_REQUEST_SECONDS, {})),
        _buckets(histograms.get(_FIRST_OUTPUT_SECONDS, {})),
        usage,
    )


def _buckets(by_type: Mapping[str, dict[float, float]]) -> dict[str, Buckets]:
    return {type_: Buckets(counts) for type_, counts in by_type.items()}
