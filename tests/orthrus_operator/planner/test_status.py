"""Status by the rules of kstatus, computed from what was observed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.status import observed_status, unobserved_status
from orthrus_operator.planner.world import Scaling, World
from tests.orthrus_operator.making import demo

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"
STUCK = {
    "type": "Progressing",
    "status": "False",
    "reason": "ProgressDeadlineExceeded",
    "message": "ReplicaSet has timed out progressing.",
}
QUOTA = {
    "type": "ReplicaFailure",
    "status": "True",
    "reason": "FailedCreate",
    "message": 'pods "demo-1" is forbidden: exceeded quota: gpus',
}


def orthrus(replicas: int = 2) -> OrthrusDeployment:
    return demo(replicas=replicas)


def deployment(
    replicas: int, updated: int, ready: int, *conditions: dict[str, str], observed: int = 5
) -> dict[str, Any]:
    return {
        "kind": "Deployment",
        "metadata": {"name": "demo", "generation": 5},
        "status": {
            "observedGeneration": observed,
            "replicas": replicas,
            "updatedReplicas": updated,
            "readyReplicas": ready,
            "conditions": list(conditions),
        },
    }


def crashing(created: str, message: str) -> dict[str, Any]:
    ended = {"terminated": {"exitCode": 1, "message": message}}
    state = {"name": "replica", "image": "i", "state": {}, "lastState": ended}
    return {
        "metadata": {"name": f"demo-{created}", "creationTimestamp": created},
        "status": {"containerStatuses": [state]},
    }


def conditions(world: World, of: OrthrusDeployment | None = None) -> dict[str, tuple[str, str]]:
    status = observed_status(of or orthrus(), world, {}, NOW)
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def kstatus(found: dict[str, tuple[str, str]]) -> str:
    """The rules by which helm --wait, Flux and Argo judge an object."""
    if found["Reconciling"][0] == "True":
        return "InProgress"
    if found["Stalled"][0] == "True":
        return "Failed"
    return "Current" if found["Ready"][0] == "True" else "InProgress"


def test_all_replicas_updated_and_ready() -> None:
    found = conditions(World(deployment(2, 2, 2), ()))
    assert found["Ready"] == ("True", "ReplicasReady")
    assert found["Available"] == ("True", "ReplicasReady")
    assert kstatus(found) == "Current"


@pytest.mark.parametrize(
    "world",
    [
        World(None, ()),
        World(deployment(2, 2, 1), ()),
        World(deployment(2, 1, 2), ()),
        World(deployment(3, 2, 3), ()),
        World(deployment(2, 2, 2, observed=4), ()),
    ],
    ids=["none", "one loading", "one of an old spec", "one too many", "not seen yet"],
)
def test_anything_less_is_on_its_way(world: World) -> None:
    found = conditions(world)
    assert found["Ready"] == ("False", "Progressing")
    assert kstatus(found) == "InProgress"


def test_one_ready_replica_is_available() -> None:
    assert conditions(World(deployment(2, 2, 1), ()))["Available"][0] == "True"
    assert conditions(World(deployment(2, 2, 0), ()))["Available"] == ("False", "NoReplicaReady")


def test_zero_replicas_are_ready_but_not_available() -> None:
    found = conditions(World(deployment(0, 0, 0), ()), orthrus(replicas=0))
    assert found["Ready"] == ("True", "ScaledToZero")
    assert found["Available"] == ("False", "ScaledToZero")
    assert kstatus(found) == "Current"


def test_a_model_that_does_not_exist_is_stalled_not_silent() -> None:
    pods = (crashing("2026-01-01", "ModelNotFound: no config.json"),)
    found = conditions(World(deployment(2, 2, 0), pods))
    assert found["Ready"] == ("False", "ModelNotFound")
    assert found["Stalled"] == ("True", "ModelNotFound")
    assert kstatus(found) == "Failed"


def test_what_stops_a_pod_of_an_earlier_spec_is_on_its_way_to_be_healed() -> None:
    old = crashing("2026-01-01", "ModelNotFound: x")
    of_old = {**old, "spec": {"containers": [{"name": "replica", "args": ["serve", "old"]}]}}
    template = {"spec": {"containers": [{"name": "replica", "args": ["serve", "new"]}]}}
    seen = {**deployment(2, 1, 0), "spec": {"template": template}}
    found = conditions(World(seen, (of_old,)))
    assert found["Ready"] == ("False", "ModelNotFound")
    assert kstatus(found) == "InProgress"
    of_new = {**old, "spec": template["spec"]}
    assert kstatus(conditions(World(seen, (of_new,)))) == "Failed"


def test_that_an_earlier_rollout_was_stuck_says_nothing_of_the_present_spec() -> None:
    assert kstatus(conditions(World(deployment(2, 2, 0, STUCK, observed=4), ()))) == "InProgress"


def test_a_problem_that_may_pass_is_still_on_its_way() -> None:
    found = conditions(World(deployment(0, 0, 0, QUOTA), ()))
    assert found["Ready"] == ("False", "QuotaExceeded")
    assert found["Stalled"][0] == "False"
    assert kstatus(found) == "InProgress"


def test_a_problem_that_waiting_does_not_solve_is_shown_first() -> None:
    pods = (crashing("2026-01-02", "boom"), crashing("2026-01-01", "ModelNotFound: x"))
    assert conditions(World(deployment(2, 2, 0), pods))["Ready"][1] == "ModelNotFound"


def test_of_equal_problems_the_newest_pods_is_shown() -> None:
    pods = (crashing("2026-01-01", "old"), crashing("2026-01-02", "new"))
    status = observed_status(orthrus(), World(deployment(2, 2, 0), pods), {}, NOW)
    assert "its last line: new" in status["conditions"][0]["message"]


def test_a_stuck_rollout_is_stalled_with_its_pods_reason() -> None:
    assert conditions(World(deployment(2, 2, 0, STUCK), ()))["Stalled"] == (
        "True",
        "ProgressDeadlineExceeded",
    )
    pods = (crashing("2026-01-01", "boom"),)
    assert conditions(World(deployment(2, 2, 0, STUCK), pods))["Stalled"] == ("True", "Crashed")


def test_an_object_that_could_not_be_applied_is_not_ready_however_many_replicas_are() -> None:
    problem = Problem("ObjectConflict", "Service demo exists", stalled=True)
    found = conditions(World(deployment(2, 2, 2), (), problems=(problem,)))
    assert found["Ready"] == ("False", "ObjectConflict")
    assert found["Available"][0] == "True"
    assert kstatus(found) == "Failed"


def test_a_message_of_any_length_fits() -> None:
    problem = Problem("AdapterFailed", "x" * 100_000, stalled=True)
    world = World(deployment(2, 2, 2), (), problems=(problem,))
    for each in observed_status(orthrus(), world, {}, NOW)["conditions"]:
        assert len(each["message"]) <= 32_768


def test_notes_make_it_no_less_ready() -> None:
    world = World(
        deployment(2, 2, 2), (), notes=("an image is a mirror's",), unmade=("PodMonitor",)
    )
    [ready, *_] = observed_status(orthrus(), world, {}, NOW)["conditions"]
    assert ready["status"] == "True"
    assert (
        "2 of 2 replicas ready; an image is a mirror's; no PodMonitor was made" in ready["message"]
    )


def test_a_pause_that_holds_something_back_ends_every_wait() -> None:
    """`helm --wait` would otherwise wait until its timeout for someone to end the pause."""
    found = conditions(World(deployment(2, 2, 2), (), held_back=("Deployment demo",)))
    assert found["Ready"] == ("False", "Paused")
    assert found["Stalled"] == ("True", "Paused")
    assert kstatus(found) == "Failed"


def evicted(created: str, **status: Any) -> dict[str, Any]:
    failed = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}
    return {
        "metadata": {"name": f"demo-{created}", "creationTimestamp": created},
        "status": {**failed, **status},
    }


def test_an_eviction_is_shown_until_a_later_pod_is_ready() -> None:
    loading = {"metadata": {"name": "demo-3", "creationTimestamp": "3"}, "status": {}}
    ready = {**loading, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    found = conditions(World(deployment(1, 1, 0), (evicted("2"), loading)), orthrus(replicas=1))
    assert found["Ready"] == ("False", "Evicted")
    assert kstatus(found) == "InProgress"
    replaced = World(deployment(1, 1, 1), (evicted("2"), ready))
    assert conditions(replaced, orthrus(replicas=1))["Ready"] == ("True", "ReplicasReady")
    scaling = World(deployment(2, 2, 1), (evicted("2"), ready))
    assert conditions(scaling)["Ready"] == ("False", "Progressing")


def test_an_eviction_is_history_once_enough_replicas_are_ready() -> None:
    """A scale-down takes the newest pod first, and leaves the evicted one the newest."""
    older = {
        "metadata": {"name": "demo-1", "creationTimestamp": "1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    scaled_down = World(deployment(1, 1, 1), (evicted("2"), older))
    assert conditions(scaled_down, orthrus(replicas=1))["Ready"] == ("True", "ReplicasReady")
    to_zero = World(deployment(0, 0, 0), (evicted("2"),))
    assert conditions(to_zero, orthrus(replicas=0))["Ready"] == ("True", "ScaledToZero")


@pytest.mark.parametrize("reason", ["UnexpectedAdmissionError", "OutOfnvidia.com/gpu"])
def test_a_node_that_refuses_the_pod_is_named_as_the_cause(reason: str) -> None:
    pods = (evicted("1", reason=reason, message="no device"),)
    status = observed_status(orthrus(), World(deployment(2, 2, 0), pods), {}, NOW)
    assert status["conditions"][0]["reason"] == "NodeRefusedPod"
    assert f"{reason}: no device" in status["conditions"][0]["message"]


def test_a_pod_that_failed_for_no_reason_of_its_node_is_no_problem() -> None:
    pods = (evicted("1", reason="Shutdown"),)
    assert conditions(World(deployment(2, 2, 0), pods))["Ready"][1] == "Progressing"


def test_an_object_that_cannot_be_read_is_stalled_and_keeps_its_counts() -> None:
    before = observed_status(orthrus(), World(deployment(2, 2, 2), ()), {}, NOW)
    problem = Problem("InvalidSpec", "spec.drainSeconds: too long", stalled=True)
    after = unobserved_status(7, problem, before, LATER)
    found = {each["type"]: (each["status"], each["reason"]) for each in after["conditions"]}
    assert found["Stalled"] == ("True", "InvalidSpec")
    assert found["Available"] == ("Unknown", "NotObserved")
    assert kstatus(found) == "Failed"
    assert after["observedGeneration"] == 7
    assert {key: after[key] for key in ("replicas", "selector", "ready")} == {
        key: before[key] for key in ("replicas", "selector", "ready")
    }
    assert unobserved_status(7, problem, after, "2026-01-02T00:00:00Z") == after


def test_an_autoscaler_that_fails_shows_and_leaves_the_replicas_ready() -> None:
    blind = {"type": "ScalingActive", "status": "False", "reason": "FailedGetPodsMetric"}
    hpa = {"metadata": {"name": "demo"}, "status": {"conditions": [blind]}}
    world = World(deployment(2, 2, 2), (), scaling=Scaling((hpa,)))
    assert conditions(world)["ScalingActive"] == ("False", "FailedGetPodsMetric")
    assert conditions(world)["Ready"] == ("True", "ReplicasReady")
    assert "ScalingActive" not in conditions(World(deployment(2, 2, 2), ()))


def test_an_autoscaler_of_an_object_that_cannot_be_read_is_not_forgotten() -> None:
    problem = Problem("InvalidSpec", "spec.drainSeconds: too long", stalled=True)
    hpa = {"metadata": {"name": "demo"}, "spec": {}}
    world = World(deployment(2, 2, 2), (), scaling=Scaling((hpa,)))
    for scaled in (True, False):
        before = observed_status(orthrus(), world if scaled else World(None, ()), {}, NOW)
        after = unobserved_status(7, problem, before, LATER)["conditions"]
        found = {each["type"]: each["status"] for each in after}
        assert found.get("ScalingActive") == ("Unknown" if scaled else None)


def test_counts_selector_and_endpoint() -> None:
    status = observed_status(orthrus(), World(deployment(3, 2, 1), ()), {}, NOW)
    assert (status["replicas"], status["updatedReplicas"], status["readyReplicas"]) == (3, 2, 1)
    assert status["ready"] == "1/2"
    assert status["selector"] == "serving.orthrus.io/deployment=demo"
    assert status["endpoint"] == "http://demo.models.svc"
    assert status["observedGeneration"] == 3


COUNTS = st.integers(min_value=0, max_value=3)
WORLDS = st.builds(
    lambda a, b, c, stuck: World(deployment(a, b, c, *([STUCK] if stuck else [])), ()),
    COUNTS,
    COUNTS,
    COUNTS,
    st.booleans(),
)


@given(WORLDS, COUNTS)
def test_an_unchanged_world_gives_an_unchanged_status_at_any_later_time(
    world: World, replicas: int
) -> None:
    first = observed_status(orthrus(replicas), world, {}, NOW)
    assert observed_status(orthrus(replicas), world, first, LATER) == first


@given(WORLDS, WORLDS)
def test_a_transition_time_moves_exactly_with_its_status(before: World, after: World) -> None:
    first = observed_status(orthrus(), before, {}, NOW)
    second = observed_status(orthrus(), after, first, LATER)
    for old, new in zip(first["conditions"], second["conditions"], strict=True):
        moved = old["status"] != new["status"]
        assert new["lastTransitionTime"] == (LATER if moved else NOW)


@given(WORLDS, COUNTS)
def test_conditions_never_contradict_each_other(world: World, replicas: int) -> None:
    found = conditions(world, orthrus(replicas))
    true = {kind for kind, (status, _) in found.items() if status == "True"}
    assert len(true & {"Ready", "Reconciling", "Stalled"}) == 1
