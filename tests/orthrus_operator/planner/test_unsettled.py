"""An object is looked at again soon only while something may change that no event tells."""

from typing import Any

import pytest

from orthrus_operator.planner.adapter_state import AdapterReport, ReplicaReport
from orthrus_operator.planner.status import World, observed_status
from orthrus_operator.planner.unsettled import is_unsettled
from tests.orthrus_operator.making import demo

NOW = "2026-01-01T00:00:00Z"
E5 = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
PREPARING = {
    "type": "PodReadyToStartContainers",
    "status": "False",
    "lastTransitionTime": NOW,
}


def deployment(replicas: int, ready: int) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas}
    return {"metadata": {"generation": 1}, "status": {**counts, "readyReplicas": ready}}


def unsettled(world: World, **spec: Any) -> bool:
    return is_unsettled(world, observed_status(demo(**spec), world, {}, NOW))


def loads(state: str) -> tuple[ReplicaReport, ...]:
    return (ReplicaReport("demo-1", (AdapterReport("e5", state),)),)


@pytest.mark.parametrize(
    ("state", "expected"), [("loading", True), ("failed", True), ("loaded", False)]
)
def test_while_a_replica_has_adapters_to_load(state: str, expected: bool) -> None:
    world = World(deployment(1, 1), (), reports=loads(state))
    assert unsettled(world, adapters=[E5]) is expected


@pytest.mark.parametrize("replicas", [0, 2])
def test_where_no_replica_is_ready_nobody_loads(replicas: int) -> None:
    """One that becomes ready is an event; at zero replicas there would be no end to it."""
    world = World(deployment(replicas, 0), ())
    assert not unsettled(world, replicas=replicas, adapters=[E5])


def test_until_keda_has_made_something_of_what_is_not_watched() -> None:
    spec = {"autoscaling": {"maxReplicas": 2, "backend": "keda"}}
    scaled_object = {"metadata": {"name": "demo"}}
    hpa = {
        "metadata": {"name": "keda-hpa-demo"},
        "status": {"conditions": [{"type": "ScalingActive", "status": "True", "reason": "x"}]},
    }
    for autoscalers, expected in (((), True), ((hpa,), False)):
        world = World(deployment(1, 1), (), autoscalers=autoscalers, scaled_object=scaled_object)
        assert unsettled(world, **spec) is expected


def test_while_a_node_prepares_a_pod() -> None:
    pod = {
        "metadata": {"name": "demo-1"},
        "spec": {},
        "status": {"phase": "Pending", "conditions": [PREPARING]},
    }
    assert unsettled(World(deployment(1, 0), (pod,)))
    assert not unsettled(World(deployment(1, 1), ()))
