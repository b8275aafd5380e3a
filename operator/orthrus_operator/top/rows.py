"""From two looks to the rows that are shown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.deployment_load import Look, deployment_load
from orthrus_operator.reconciler.replica_address import serves
from orthrus_operator.top.latency import Buckets
from orthrus_operator.top.observation import Observation
from orthrus_operator.top.reading import Reading


@dataclass(frozen=True)
class Latency:
    """Seconds, over the requests that ended between the looks; None when none did."""

    p50: float | None
    p99: float | None


@dataclass(frozen=True)
class Figures:
    """What a replica does, or several together; None where nobody knows.

    Ratios are from 0 to 1. Mix and fill are over the time between the looks.
    """

    mix_ratio: float | None = None
    batch_fill_ratio: float | None = None
    busy_ratio: float | None = None
    gpu_utilization_ratio: float | None = None
    kv_cache_usage_ratio: float | None = None
    """The highest."""
    backlog_tokens: Mapping[str, float] = field(default_factory=dict)
    request_seconds: Mapping[str, Latency] = field(default_factory=dict)
    time_to_first_token_seconds: Mapping[str, Latency] = field(default_factory=dict)


@dataclass(frozen=True)
class ReplicaRow:
    """One pod."""

    name: str
    node: str
    ready: bool
    figures: Figures
    problem: str = ""
    """Why there are no figures."""


@dataclass(frozen=True)
class DeploymentRow:
    """One OrthrusDeployment, with its replicas."""

    namespace: str
    name: str
    ready: str
    """Ready of wanted replicas, e.g. 2/2."""
    figures: Figures
    replicas: tuple[ReplicaRow, ...]


class _Pair(NamedTuple):
    """A replica at both looks."""

    before: Reading | None
    now: Reading


def rows(before: Observation, now: Observation) -> tuple[DeploymentRow, ...]:
    """In order of namespace and name."""
    pods: dict[tuple[str, str], list[KubernetesObject]] = defaultdict(list)
    for pod in now.pods:
        metadata = pod["metadata"]
        pods[metadata["namespace"], metadata["labels"][DEPLOYMENT_LABEL]].append(pod)
    found = []
    for orthrus in now.deployments:
        key = orthrus["metadata"]["namespace"], orthrus["metadata"]["name"]
        own = sorted(pods[key], key=lambda pod: str(pod["metadata"]["name"]))
        pairs = {pod["metadata"]["uid"]: _pair(before, now, pod) for pod in own}
        found.append(
            DeploymentRow(
                *key,
                ready=orthrus.get("status", {}).get("ready", f"0/{orthrus['spec']['replicas']}"),
                figures=_figures([pair for pair in pairs.values() if pair]),
                replicas=tuple(_replica(pod, pairs[pod["metadata"]["uid"]], now) for pod in own),
            )
        )
    return tuple(sorted(found, key=lambda row: (row.namespace, row.name)))


def _pair(before: Observation, now: Observation, pod: KubernetesObject) -> _Pair | None:
    uid = pod["metadata"]["uid"]
    last, said = before.readings.get(uid), now.readings.get(uid)
    if not isinstance(said, Reading):
        return None
    return _Pair(last if isinstance(last, Reading) else None, said)


def _replica(pod: KubernetesObject, pair: _Pair | None, now: Observation) -> ReplicaRow:
    said = now.readings.get(pod["metadata"]["uid"], "not ready")
    return ReplicaRow(
        name=pod["metadata"]["name"],
        node=pod["spec"].get("nodeName", ""),
        ready=serves(pod),
        figures=_figures([pair] if pair else []),
        problem=said if isinstance(said, str) else "",
    )


def _figures(pairs: Sequence[_Pair]) -> Figures:
    load = deployment_load(
        [Look(pair.before.sample if pair.before else None, pair.now.sample) for pair in pairs]
    )
    usages = [pair.now.kv_cache_usage for pair in pairs if pair.now.kv_cache_usage is not None]
    return Figures(
        mix_ratio=load.mix_ratio,
        batch_fill_ratio=load.batch_fill_ratio,
        busy_ratio=load.busy_ratio,
        gpu_utilization_ratio=load.gpu_utilization_ratio,
        kv_cache_usage_ratio=max(usages, default=None),
        backlog_tokens=load.backlog_tokens,
        request_seconds=_latencies(
            (pair.before.request_seconds if pair.before else {}, pair.now.request_seconds)
            for pair in pairs
        ),
        time_to_first_token_seconds=_latencies(
            (pair.before.first_output_seconds if pair.before else {}, pair.now.first_output_seconds)
            for pair in pairs
        ),
    )


_Histograms = Mapping[str, Buckets]


def _latencies(looks: Iterable[tuple[_Histograms, _Histograms]]) -> dict[str, Latency]:
    total: dict[str, Buckets] = {}
    for before, now in looks:
        for type_, buckets in now.items():
            rise = buckets.since(before.get(type_, Buckets()))
            total[type_] = total.get(type_, Buckets()).plus(rise)
    return {
        type_: Latency(buckets.quantile(0.5), buckets.quantile(0.99))
        for type_, buckets in total.items()
    }


def as_json(found: Sequence[DeploymentRow], seconds: float) -> dict[str, Any]:
    """For scripts; `seconds` lie between the two looks."""
    return {"window_seconds": seconds, "deployments": [asdict(row) for row in found]}
