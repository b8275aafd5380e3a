"""The `orthrus_` metrics of a replica: the one source of /metrics and of docs/metrics.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from orthrus_serving.engine.models_report import ModelsReport
from orthrus_serving.scheduling.snapshot import ByTask, Durations, Snapshot
from orthrus_serving.server.gpu import GpuReading
from orthrus_serving.server.step_window import StepWindow


@dataclass(frozen=True)
class Reading:
    """All that the values are computed from, at one moment."""

    snapshot: Snapshot
    window: StepWindow
    snapshot_age: float
    gpu: GpuReading
    models: ModelsReport = field(default_factory=ModelsReport)


Value = float | Durations | Mapping[str, str]


@dataclass(frozen=True)
class Metric:
    """One row. `label` is None for a metric with one value, whose `read` gives the key "".

    The values of a histogram are `Durations`, those of an info further labels with their values,
    those of the other kinds numbers.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram", "info"]
    meaning: str
    read: Callable[[Reading], Mapping[str, Value]]
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


def _of_gpu(read: Callable[[GpuReading], float | None]) -> Callable[[Reading], Mapping[str, float]]:
    def values(reading: Reading) -> Mapping[str, float]:
        value = read(reading.gpu)
        return {} if value is None else {reading.gpu.name: value}

    return values


def _backlog_seconds(reading: Reading) -> Mapping[str, float]:
    """Nothing while there is a backlog whose rate nobody has measured yet."""
    tokens, rate = reading.snapshot.backlog_tokens.total, reading.window.prefill_rate
    if not tokens:
        return {"": 0.0}
    return {"": tokens / rate} if rate else {}


def _step_seconds(reading: Reading) -> Mapping[str, Durations]:
    phases = reading.snapshot.step_seconds
    return {"schedule": phases.schedule, "forward": phases.forward, "emit": phases.emit}


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
        _one(lambda reading: reading.window.fill_ratio),
    ),
    Metric(
        "orthrus_mix_ratio",
        "gauge",
        "embedding share of scheduled tokens, 0 to 1, over the same window",
        _one(lambda reading: reading.window.mix_ratio),
    ),
    Metric(
        "orthrus_busy_ratio",
        "gauge",
        "share of time with a forward pass in flight, 0 to 1, over the same window",
        _one(lambda reading: reading.window.busy_ratio),
    ),
    Metric(
        "orthrus_step_seconds",
        "histogram",
        "duration of engine steps by phase; forward: from the launch to the arrival of the output "
        "on the host, less the time in which an earlier step was still awaited",
        _step_seconds,
        label="phase",
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
        "orthrus_backlog_seconds",
        "gauge",
        "backlog tokens of both types ÷ prompt tokens per busy second, as last measured under a "
        "backlog; absent while there is a backlog and no rate yet",
        _backlog_seconds,
    ),
    Metric(
        "orthrus_oldest_waiting_seconds",
        "gauge",
        "age of the oldest request that waits to be scheduled, 0 when none does",
        _by_type(lambda reading: reading.snapshot.oldest_waiting_seconds),
        label="type",
    ),
    Metric(
        "orthrus_kv_cache_usage_ratio",
        "gauge",
        "share of the KV-cache blocks in use, 0 to 1",
        _one(lambda reading: reading.snapshot.kv_cache_usage),
    ),
    Metric(
        "orthrus_gpu_utilization_ratio",
        "gauge",
        "share of the last sampling period with a kernel running, 0 to 1, by NVML; absent without "
        "a GPU, and on a MIG slice: see orthrus_busy_ratio there",
        _of_gpu(lambda gpu: gpu.utilization),
        label="gpu",
        of_engine=False,
    ),
    Metric(
        "orthrus_gpu_memory_used_bytes",
        "gauge",
        "memory in use on the GPU, by NVML; absent without a GPU",
        _of_gpu(lambda gpu: gpu.memory_used),
        label="gpu",
        of_engine=False,
    ),
    Metric(
        "orthrus_adapter_loaded",
        "gauge",
        "1 for an adapter that serves, 0 for one that loads or failed",
        lambda reading: {adapter.name: adapter.serves for adapter in reading.models.adapters},
        label="adapter",
        of_engine=False,
    ),
    Metric(
        "orthrus_embedding_space_info",
        "info",
        "1; `space` is the header orthrus-embedding-space of this model's vectors, unless a "
        "request asks for others: never compare vectors of replicas that differ in it",
        lambda reading: {
            model: {"space": space} for model, space in reading.models.embedding_spaces.items()
        },
        label="model",
        of_engine=False,
    ),
    Metric(
        "orthrus_adapters_file_refused",
        "gauge",
        "1 while the newest content of --adapters-file is refused; the log says why",
        _one(lambda reading: not reading.models.file_is_valid),
        of_engine=False,
    ),
    Metric(
        "orthrus_snapshot_age_seconds",
        "gauge",
        "age of the engine state that these metrics show",
        _one(lambda reading: reading.snapshot_age),
        of_engine=False,
    ),
)


@dataclass(frozen=True)
class RequestMetric:
    """One row about requests, which the HTTP edge counts itself; an empty tuple of values means
    any served model."""

    name: str
    kind: Literal["counter", "histogram"]
    meaning: str
    labels: Mapping[str, tuple[str, ...]]


TASKS = ("embedding", "generation")
STATUSES = ("ok", "client_error", "server_error", "aborted")
_TYPE_AND_MODEL: Mapping[str, tuple[str, ...]] = {"type": TASKS, "model": ()}

REQUESTS = RequestMetric(
    "orthrus_requests_total",
    "counter",
    "requests that were let in, by how they ended; aborted: the client left first",
    {**_TYPE_AND_MODEL, "status": STATUSES},
)
REQUEST_SECONDS = RequestMetric(
    "orthrus_request_seconds",
    "histogram",
    "from the arrival of these requests to the end of their answers",
    _TYPE_AND_MODEL,
)
FIRST_OUTPUT_SECONDS = RequestMetric(
    "orthrus_time_to_first_token_seconds",
    "histogram",
    "from arrival to the first token, or to the first vector, that the engine gave",
    _TYPE_AND_MODEL,
)
REJECTED = RequestMetric(
    "orthrus_rejected_requests_total",
    "counter",
    "requests that were turned away: with 429 at a full queue, with 503 during a drain",
    {"reason": ("queue_full", "draining")},
)
BROKEN_VECTORS = RequestMetric(
    "orthrus_non_finite_vectors_total",
    "counter",
    "vectors with NaN or Inf, or of zeros only, which an overflow may leave too; each was answered "
    "with 500 instead",
    {},
)
REQUEST_METRICS = (REQUESTS, REQUEST_SECONDS, FIRST_OUTPUT_SECONDS, REJECTED, BROKEN_VECTORS)
