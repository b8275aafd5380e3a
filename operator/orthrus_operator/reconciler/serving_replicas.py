"""All objects of a namespace, and the replicas of theirs that serve, by two lists."""

from collections.abc import Mapping
from dataclasses import dataclass

from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.metric_table import ReplicaCounts
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import collection_path
from orthrus_operator.reconciler.replica_address import replica_address, serves


@dataclass(frozen=True)
class ServingReplica:
    """A replica that serves."""

    name: str
    owner: ObjectKey
    address: str
    """`http://HOST:PORT`."""
    has_adapters: bool
    """Whether its owner declares any."""


@dataclass(frozen=True)
class Listed:
    """What a namespace holds."""

    counts: Mapping[ObjectKey, ReplicaCounts]
    replicas: Mapping[str, ServingReplica]
    """Those of these objects, by the uid of their pod."""


async def list_replicas(api: Api, namespace: str | None) -> Listed:
    """Of one namespace; of all without. Raises ApiError and connection errors."""
    counts: dict[ObjectKey, ReplicaCounts] = {}
    adapted: set[ObjectKey] = set()
    async for found in api.pages(collection_path(API_VERSION, KIND, namespace)):
        counts.update({_key(each): _counts(each) for each in found})
        adapted.update(_key(each) for each in found if each["spec"].get("adapters"))
    replicas: dict[str, ServingReplica] = {}
    async for pods in api.pages(collection_path("v1", "Pod", namespace), DEPLOYMENT_LABEL):
        for pod in filter(serves, pods):
            if (owner := _owner(pod)) in counts:
                replicas[pod["metadata"]["uid"]] = ServingReplica(
                    pod["metadata"]["name"], owner, replica_address(pod), owner in adapted
                )
    return Listed(counts, replicas)


def _key(orthrus: KubernetesObject) -> ObjectKey:
    return ObjectKey(orthrus["metadata"]["namespace"], orthrus["metadata"]["name"])


def _owner(pod: KubernetesObject) -> ObjectKey:
    metadata = pod["metadata"]
    return ObjectKey(metadata["namespace"], metadata["labels"][DEPLOYMENT_LABEL])


def _counts(orthrus: KubernetesObject) -> ReplicaCounts:
    status = orthrus.get("status", {})
    return ReplicaCounts(
        wanted=orthrus["spec"]["replicas"],
        current=status.get("replicas", 0),
        updated=status.get("updatedReplicas", 0),
        ready=status.get("readyReplicas", 0),
    )
