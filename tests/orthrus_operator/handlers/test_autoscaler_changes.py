"""An HPA wakes its target when something but numbers changed."""

from typing import Any

from orthrus_operator.handlers.autoscaler_changes import AutoscalerChanges

DEMO = frozenset({"demo"})
NONE: frozenset[str] = frozenset()


def hpa(
    reason: str = "ValidMetricFound", *, target: str = "demo", replicas: int = 1, owner: str = ""
) -> dict[str, Any]:
    labels = {"serving.orthrus.io/deployment": owner} if owner else {}
    reference = {"apiVersion": "serving.orthrus.io/v1alpha1", "kind": "OrthrusDeployment"}
    condition = {"type": "ScalingActive", "status": "True", "reason": reason, "message": "m"}
    return {
        "metadata": {
            "namespace": "models",
            "name": "any",
            "labels": labels,
            "resourceVersion": "1",
        },
        "spec": {"scaleTargetRef": {**reference, "name": target}},
        "status": {"conditions": [condition], "currentReplicas": replicas},
    }


def test_the_first_sight_of_one_wakes_its_target() -> None:
    assert AutoscalerChanges().concerned(None, hpa()) == DEMO


def test_numbers_and_messages_wake_nobody() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    later = hpa(replicas=7)
    later["status"]["conditions"][0]["message"] = "another"
    assert changes.concerned("MODIFIED", later) == NONE
    assert changes.concerned("MODIFIED", later) == NONE


def test_a_changed_condition_wakes() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    assert changes.concerned("MODIFIED", hpa("FailedGetPodsMetric")) == DEMO


def test_a_changed_spec_wakes_so_that_ours_is_put_back() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    changed = hpa()
    changed["spec"]["maxReplicas"] = 100
    assert changes.concerned("MODIFIED", changed) == DEMO


def test_another_target_wakes_the_former_one_too() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    assert changes.concerned("MODIFIED", hpa(target="other")) == {"demo", "other"}


def test_its_end_wakes() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    assert changes.concerned("DELETED", hpa()) == DEMO
    assert changes.concerned("DELETED", hpa()) == DEMO


def test_one_of_ours_that_scales_something_else_now_wakes_its_owner() -> None:
    stray = hpa(owner="demo")
    stray["spec"]["scaleTargetRef"] = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}
    assert AutoscalerChanges().concerned(None, stray) == DEMO


def test_one_of_somebody_else_wakes_nobody() -> None:
    strange = hpa()
    strange["spec"]["scaleTargetRef"] = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}
    assert AutoscalerChanges().concerned("ADDED", strange) == NONE


def test_what_a_list_lacks_is_forgotten_and_news_again() -> None:
    changes = AutoscalerChanges()
    changes.concerned("ADDED", hpa())
    changes.listed("elsewhere", ())
    changes.listed("models", {"any"})
    assert changes.concerned("MODIFIED", hpa()) == NONE
    changes.listed("models", {"other"})
    assert changes.concerned("MODIFIED", hpa()) == DEMO
