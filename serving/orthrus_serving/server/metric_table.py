"""The `orthrus_` metrics of a replica: the one source of /metrics and of docs/metrics.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from orthrus_serving.scheduling.snapshot import ByTask, Snapshot


@dataclass(frozen=True)
class Reading:
    """All that the values are computed from, at one moment."""

    snapshot: Snapshot
    mix_ratio: float
    fill_ratio: float
    snapshot_age: float


@dataclass(frozen=True)
class Metric:
    """One row. `label` is None for a metric with one value, whose `read` gives the key ""."""

    name: str
    kind: Literal["counter", "gauge"]
    meaning: str
    read: Callable[[Reading], Mapping[str, float]]
    label: str | None = None
    of_engine: bool = True
    """A gauge of the engine's state: left out when the snapshot is too old to be true."""


def _one(read: Callable[[Reading], float]) -> Callable[[Reading], Mapping[str, float]]:
    return lambda reading: {"": read(reading)}


def _by_type(read: Callable[[Reading], ByTask]) -> Callable[[Reading], Mapping[str, float]]:
    return lambda reading: {
        "embedding": read(reading).embedding,
        "generation": read(reading).generation,
    }


def _scheduled_tokens(reading: Reading) -> Mapping[str, float]:
    tokens = reading.snapshot.scheduled_tokens
    return {
        "embedding_chunk": tokens.embedding_chunk,
        "generation_prefill": tokens.generation_prefill,
        "decode": tokens.decode,
    }


def _steps(reading: Reading) -> Mapping[str, float]:
    steps = reading.snapshot.steps
    return {
        "mixed": steps.mixed,
        "embedding": steps.embedding,
        "generation": steps.generation,
    }


METRICS: tuple[Metric, ...] = (
    Metric(
        "orthrus_scheduled_tokens_total",
        "counter",
        "tokens given to the forward pass, by batch unit",
        _scheduled_tokens,
        label="unit",
    ),
    Metric(
        "orthrus_token_budget_total",
        "counter",
        "tokens that the budget offered over the same steps; batch fill is rate ÷ rate",
        _one(lambda reading: reading.snapshot.token_budget),
    ),
    Metric(
        "orthrus_steps_total",
        "counter",
        "engine steps, by what they held",
        _steps,
        label="kind",
    ),
    Metric(
        "orthrus_batch_fill_ratio",
        "gauge",
        "scheduled tokens ÷ token budget, 0 to 1, over the last completed window of 5 s",
        _one(lambda reading: reading.fill_ratio),
    ),
    Metric(
        "orthrus_mix_ratio",
        "gauge",
        "embedding share of scheduled tokens, 0 to 1, over the same window",
        _one(lambda reading: reading.mix_ratio),
    ),
    Metric(
        "orthrus_backlog_tokens",
        "gauge",
        "prompt tokens not yet scheduled, unbounded: the scaling signal",
        _by_type(lambda reading: reading.snapshot.backlog_tokens),
        label="type",
    ),
    Metric(
        "orthrus_backlog_requests",
        "gauge",
        "requests that still have such tokens",
        _by_type(lambda reading: reading.snapshot.backlog_requests),
        label="type",
    ),
    Metric(
        "orthrus_kv_cache_usage_ratio",
        "gauge",
        "share of the KV-cache blocks in use, 0 to 1",
        _one(lambda reading: reading.snapshot.kv_cache_usage),
    ),
    Metric(
        "orthrus_snapshot_age_seconds",
        "gauge",
        "age of the engine state that these metrics show",
        _one(lambda reading: reading.snapshot_age),
        of_engine=False,
    ),
)
