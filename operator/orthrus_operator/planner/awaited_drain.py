"""Pods that wait for the room of one that drains: every step of a rollout on a full pool."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from orthrus_operator.api.reasons import Reason
from orthrus_operator.planner.pod_problem import pod_problem

_LACK_OF_ROOM: frozenset[Reason] = frozenset({"NoFreeGPU", "Unschedulable"})


def awaited_drains(pods: Sequence[Mapping[str, Any]], now: str) -> dict[str, str]:
    """By the name of each pod that has no room, that of an ending one whose room it will have.

    Empty when more pods wait than end: then room is really short. `now` is an RFC 3339 time: a pod
    that should have ended before is on a node that no longer answers, and gives no room.
    """
    waiting = [pod["metadata"]["name"] for pod in pods if _lacks_room(pod)]
    ending = [pod["metadata"]["name"] for pod in pods if _holds_room_and_ends(pod, now)]
    return dict(zip(waiting, ending, strict=False)) if len(waiting) <= len(ending) else {}


def _lacks_room(pod: Mapping[str, Any]) -> bool:
    problem = pod_problem(pod)
    return problem is not None and problem.reason in _LACK_OF_ROOM


def _holds_room_and_ends(pod: Mapping[str, Any], now: str) -> bool:
    # The API server adds the grace to the time of the deletion.
    last_moment = pod["metadata"].get("deletionTimestamp")
    return (
        last_moment is not None
        and datetime.fromisoformat(now) <= datetime.fromisoformat(last_moment)
        and "nodeName" in pod.get("spec", {})
        and pod.get("status", {}).get("phase") not in ("Failed", "Succeeded")
    )
