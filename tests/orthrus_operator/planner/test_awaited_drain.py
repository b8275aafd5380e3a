"""A pod that only waits for one that drains is on its way; one that lacks a GPU is not."""

from typing import Any

import pytest

from orthrus_operator.planner.awaited_drain import awaited_drains
from orthrus_operator.planner.status import observed_status
from orthrus_operator.planner.world import World
from tests.orthrus_operator.making import demo

NOW = "2026-01-01T00:00:00Z"
LAST_MOMENT, AFTERWARDS = "2026-01-01T00:02:40Z", "2026-01-01T00:02:41Z"


def waiting(name: str, message: str = "1 Insufficient nvidia.com/gpu.") -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {
        "metadata": {"name": name, "creationTimestamp": name},
        "spec": {},
        "status": {"phase": "Pending", "conditions": [{**condition, "message": message}]},
    }


def ending(name: str, phase: str = "Running", node: str | None = "node") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "deletionTimestamp": LAST_MOMENT},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("pods", "found"),
    [
        ([waiting("2"), ending("1")], {"2": "1"}),
        ([waiting("2", "0/1 nodes: 1 Insufficient memory."), ending("1")], {"2": "1"}),
        ([waiting("2")], {}),
        ([waiting("3"), waiting("2"), ending("1")], {}),
        ([waiting("2"), ending("1", phase="Succeeded")], {}),
        ([waiting("2"), ending("1", node=None)], {}),
        ([waiting("2", 'persistentvolumeclaim "x" not found'), ending("1")], {}),
        ([ending("1")], {}),
    ],
    ids=["gpu", "memory", "nobody", "too many", "over", "nowhere", "claim", "no one waits"],
)
def test_who_waits_for_whom(pods: list[dict[str, Any]], found: dict[str, str]) -> None:
    assert awaited_drains(pods, NOW) == found


def test_nobody_waits_for_a_pod_that_should_have_ended() -> None:
    """Its node is dead: the pod stays until someone deletes it or the node."""
    pods = [waiting("2"), ending("1")]
    assert awaited_drains(pods, LAST_MOMENT) == {"2": "1"}
    assert awaited_drains(pods, AFTERWARDS) == {}


def ready(*pods: dict[str, Any], now: str = NOW) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "readyReplicas": 1}
    deployment = {"metadata": {"name": "demo", "generation": 1}, "status": counts}
    status = observed_status(demo(replicas=2), World(deployment, pods), {}, now)
    found: dict[str, Any] = status["conditions"][0]
    return found


def test_a_step_of_a_rollout_on_a_full_pool_is_progress() -> None:
    found = ready(waiting("demo-2"), ending("demo-1"))
    assert (found["status"], found["reason"]) == ("False", "Progressing")
    assert "pod demo-2 waits for demo-1 to drain" in found["message"]
    assert ready(waiting("demo-2"))["reason"] == "NoFreeGPU"


def test_a_pool_that_has_lost_a_node_lacks_a_gpu() -> None:
    found = ready(waiting("demo-2"), ending("demo-1"), now=AFTERWARDS)
    assert found["reason"] == "NoFreeGPU"
