"""A pod that its node cannot prepare: the kubelet says why in an event, and nowhere else."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from orthrus_operator.planner.problem import Problem

_PATIENCE = timedelta(seconds=30)
"""Healthy volumes and networks take seconds."""


def is_unprepared(pod: Mapping[str, Any]) -> bool:
    """Whether its node has taken it, and still has to mount its volumes or to make its network."""
    return _unprepared_since(pod) is not None


def unprepared_problem(pod: Mapping[str, Any], now: str) -> Problem | None:
    """The problem of a pod that has been unprepared for too long at `now` (RFC 3339)."""
    since = _unprepared_since(pod)
    if since is None or datetime.fromisoformat(now) - since < _PATIENCE:
        return None
    name = pod["metadata"]["name"]
    needed = ", ".join(_mounted(pod))
    hint = f"make sure that these exist: {needed}; " if needed else ""
    return Problem(
        "VolumesNotMounted",
        f"the node cannot prepare the volumes or the network of pod {name}; {hint}kubectl describe"
        f" pod {name} has the node's reason",
        stalled=False,
    )


def _unprepared_since(pod: Mapping[str, Any]) -> datetime | None:
    status = pod.get("status", {})
    if pod["metadata"].get("deletionTimestamp") or status.get("phase") != "Pending":
        return None  # the network of a pod that ends goes, too
    for condition in status.get("conditions", []):
        if condition["type"] == "PodReadyToStartContainers" and condition["status"] == "False":
            since = condition.get("lastTransitionTime")
            return datetime.fromisoformat(since) if since else None
    return None


def _mounted(pod: Mapping[str, Any]) -> Iterator[str]:
    """What the pod's volumes take from other objects."""
    for volume in pod["spec"].get("volumes", []):
        if secret := volume.get("secret"):
            yield f"Secret {secret['secretName']}{_keys(secret)}"
        if config_map := volume.get("configMap"):
            yield f"ConfigMap {config_map['name']}{_keys(config_map)}"
        if claim := volume.get("persistentVolumeClaim"):
            yield f"PersistentVolumeClaim {claim['claimName']}"


def _keys(source: Mapping[str, Any]) -> str:
    keys = ", ".join(item["key"] for item in source.get("items", []))
    return f" with key {keys}" if keys else ""
