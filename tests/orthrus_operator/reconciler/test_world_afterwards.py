"""What is wrong with an autoscaler is told of the autoscaler."""

from typing import Any

from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.status import observed_status
from orthrus_operator.reconciler.apply import Applied
from orthrus_operator.reconciler.children import Done
from orthrus_operator.reconciler.plan import Observed, Plan
from orthrus_operator.reconciler.world_afterwards import world_afterwards
from tests.orthrus_operator.making import demo

SERVES = {
    "kind": "Deployment",
    "metadata": {"name": "demo", "generation": 1, "ownerReferences": [{"uid": "u1"}]},
    "status": {
        "observedGeneration": 1,
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
    },
}
LIVE = {"/apis/apps/v1/namespaces/models/deployments/demo": SERVES}
NOTHING = Plan((), (), (), (), (), retry=False)
REFUSED = Problem("ObjectRefused", "it is refused", stalled=True)
FAILED = Problem("ApplyFailed", "trying again", stalled=False)


def conditions(**problems: Problem) -> dict[str, str]:
    """Of an object whose replicas serve, when these kinds have a problem."""
    made: tuple[tuple[dict[str, Any], Applied], ...] = tuple(
        ({"kind": kind}, Applied(None, problem, retry=True)) for kind, problem in problems.items()
    )
    orthrus = demo(replicas=1, autoscaling={"maxReplicas": 2})
    done = Done(LIVE, made, retry=True)
    world = world_afterwards(orthrus, Observed(LIVE, (), {}), NOTHING, done, ())
    status = observed_status(orthrus, world, {}, "now")
    return {each["type"]: f"{each['status']} {each['reason']}" for each in status["conditions"]}


def test_a_refused_autoscaler_makes_the_object_no_less_ready() -> None:
    for kind in ("HorizontalPodAutoscaler", "ScaledObject"):
        found = conditions(**{kind: REFUSED})
        assert found["ScalingActive"] == "False ObjectRefused"
        assert found["Ready"] == "True ReplicasReady"
        assert found["Stalled"] == "False NotStalled"


def test_any_other_refused_child_does() -> None:
    found = conditions(Service=REFUSED)
    assert found["Ready"] == "False ObjectRefused"
    assert found["ScalingActive"] == "Unknown AutoscalerPending"


def test_of_two_problems_the_one_that_waits_for_somebody_is_shown() -> None:
    found = conditions(ScaledObject=FAILED, HorizontalPodAutoscaler=REFUSED)
    assert found["ScalingActive"] == "False ObjectRefused"
