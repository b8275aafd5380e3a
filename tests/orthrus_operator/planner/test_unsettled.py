"""An object is looked at again soon only while something may change that no event tells."""

from typing import Any

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.builders.adapters import declaration_digest
from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport
from orthrus_operator.planner.status import observed_status
from orthrus_operator.planner.unsettled import is_unsettled
from orthrus_operator.planner.world import Scaling, World
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


def unsettled(world: World, now: str = NOW, /, **spec: Any) -> bool:
    return is_unsettled(world, observed_status(demo(**spec), world, {}, now), now)


def test_not_while_replicas_load_adapters() -> None:
    """Whoever asks them tells when they say something else."""
    loading = AdapterReport("e5", declaration_digest(Adapter.model_validate(E5)), "loading")
    world = World(deployment(1, 1), (), reports=(ReplicaReport("demo-1", (loading,)),))
    assert not unsettled(world, adapters=[E5])


def test_until_keda_has_made_something_of_what_is_not_watched() -> None:
    spec = {"autoscaling": {"maxReplicas": 2, "backend": "keda"}}
    scaled_object = {"metadata": {"name": "demo"}}
    hpa = {
        "metadata": {"name": "keda-hpa-demo"},
        "status": {"conditions": [{"type": "ScalingActive", "status": "True", "reason": "x"}]},
    }
    for autoscalers, expected in (((), True), ((hpa,), False)):
        world = World(deployment(1, 1), (), scaling=Scaling(autoscalers, scaled_object))
        assert unsettled(world, **spec) is expected


def test_while_a_node_prepares_a_pod() -> None:
    pod = {
        "metadata": {"name": "demo-1"},
        "spec": {},
        "status": {"phase": "Pending", "conditions": [PREPARING]},
    }
    assert unsettled(World(deployment(1, 0), (pod,)))
    assert not unsettled(World(deployment(1, 1), ()))


def test_while_a_pod_waits_for_another_one_to_end_which_a_dead_node_never_tells() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    waiting = {"metadata": {"name": "demo-2"}, "status": {"conditions": [condition]}}
    ending = {
        "metadata": {"name": "demo-1", "deletionTimestamp": "2026-01-01T00:02:40Z"},
        "spec": {"nodeName": "node"},
    }
    world = World(deployment(1, 0), (waiting, ending))
    assert unsettled(world)
    assert not unsettled(world, "2026-01-01T00:02:41Z")
