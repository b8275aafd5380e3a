"""The operator's metrics: the one source of its /metrics and of docs/operator-metrics.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from orthrus_operator.planner.deployment_load import DeploymentLoad


@dataclass(frozen=True)
class ReplicaCounts:
    """How many replicas there are, by state."""

    wanted: int = 0
    current: int = 0
    updated: int = 0
    ready: int = 0


@dataclass(frozen=True)
class DeploymentMetric:
    """One gauge of an OrthrusDeployment, beside its labels `namespace` and `name`.

    `read` gives a value for each value of `label`; the key is "" without one, and nothing is shown
    of what it leaves out.
    """

    name: str
    meaning: str
    read: Callable[[ReplicaCounts, DeploymentLoad], Mapping[str, float]]
    label: str | None = None
    values: tuple[str, ...] = ()
    """Of the label."""


@dataclass(frozen=True)
class OwnMetric:
    """One metric of the operator's own work; an empty tuple of values means any."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: Mapping[str, tuple[str, ...]]
    buckets: tuple[float, ...] = ()


def _one(
    read: Callable[[DeploymentLoad], float | None],
) -> Callable[[ReplicaCounts, DeploymentLoad], Mapping[str, float]]:
    def values(_: ReplicaCounts, load: DeploymentLoad) -> Mapping[str, float]:
        value = read(load)
        return {} if value is None else {"": value}

    return values


def _replicas(counts: ReplicaCounts, load: DeploymentLoad) -> Mapping[str, float]:
    return {
        "wanted": counts.wanted,
        "current": counts.current,
        "updated": counts.updated,
        "ready": counts.ready,
        "answering": load.answering,
    }


DEPLOYMENT_METRICS = (
    DeploymentMetric(
        "orthrus_deployment_replicas",
        "replicas: wanted by the spec, current (ready or not), updated to the present spec, ready,"
        " answering the operator",
        _replicas,
        "state",
        ("wanted", "current", "updated", "ready", "answering"),
    ),
    DeploymentMetric(
        "orthrus_deployment_mix_ratio",
        "embedding share of all tokens that the replicas scheduled between the last two looks, 0 to"
        " 1; 0 when they scheduled none",
        _one(lambda load: load.mix_ratio),
    ),
    DeploymentMetric(
        "orthrus_deployment_batch_fill_ratio",
        "these tokens ÷ the tokens that the budgets of the same steps offered, 0 to 1",
        _one(lambda load: load.batch_fill_ratio),
    ),
    DeploymentMetric(
        "orthrus_deployment_busy_ratio",
        "share of time with a forward pass in flight, 0 to 1, mean of the replicas",
        _one(lambda load: load.busy_ratio),
    ),
    DeploymentMetric(
        "orthrus_deployment_backlog_tokens",
        "prompt tokens not yet scheduled, sum of the replicas that answer",
        lambda _, load: load.backlog_tokens,
        "type",
        ("embedding", "generation"),
    ),
    DeploymentMetric(
        "orthrus_deployment_gpu_utilization_ratio",
        "share of time with a kernel running, 0 to 1, by NVML, mean of the replicas' GPUs; absent"
        " without a GPU, and on MIG slices: see orthrus_deployment_busy_ratio there",
        _one(lambda load: load.gpu_utilization_ratio),
    ),
)

RESULTS = ("done", "retry", "gone", "error")
RECONCILE_SECONDS = OwnMetric(
    "orthrus_operator_reconcile_seconds",
    "histogram",
    "duration of one look at one object",
    {},
    (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
RECONCILES = OwnMetric(
    "orthrus_operator_reconciles_total",
    "counter",
    "looks, by how they ended; retry: something is in the way, error: a call failed or took too"
    " long; both are tried again",
    {"result": RESULTS},
)
QUEUE_SECONDS = OwnMetric(
    "orthrus_operator_queue_seconds",
    "histogram",
    "how long an object waited for a look after an event or a resync",
    {},
    (0.001, 0.01, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0),
)
OLDEST_WAITING_SECONDS = OwnMetric(
    "orthrus_operator_oldest_waiting_seconds",
    "gauge",
    "for how long the object that waits longest for a look has waited; 0 when none waits",
    {},
)
API_REQUESTS = OwnMetric(
    "orthrus_operator_api_requests_total",
    "counter",
    "requests to the API server, those of the watches left out; code: the HTTP status, or error"
    " when there was no answer",
    {
        "verb": ("get", "list", "create", "update", "patch", "apply", "delete"),
        "resource": (),
        "code": (),
    },
)
OWN_METRICS = (
    RECONCILE_SECONDS,
    RECONCILES,
    QUEUE_SECONDS,
    OLDEST_WAITING_SECONDS,
    API_REQUESTS,
)
