"""A pod whose volumes cannot be mounted: its status has no reason, so time has to tell."""

from typing import Any

import pytest

from orthrus_operator.planner.unprepared_pod import is_unprepared, unprepared_problem

SOON, LATER = "2026-01-01T00:00:29Z", "2026-01-01T00:00:30Z"


def pod(prepared: str = "False", **status: Any) -> dict[str, Any]:
    condition = {
        "type": "PodReadyToStartContainers",
        "status": prepared,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    volumes = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "keys", "secret": {"secretName": "clients", "items": [{"key": "all"}]}},
        {"name": "adapters", "configMap": {"name": "demo"}},
        {"name": "model", "persistentVolumeClaim": {"claimName": "models"}},
    ]
    return {
        "metadata": {"name": "demo-1"},
        "spec": {"volumes": volumes},
        "status": {"phase": "Pending", "conditions": [condition], **status},
    }


def test_it_is_given_time() -> None:
    assert is_unprepared(pod())
    assert unprepared_problem(pod(), SOON) is None


def test_then_the_message_names_all_that_may_be_missing() -> None:
    problem = unprepared_problem(pod(), LATER)
    assert problem
    assert (problem.reason, problem.stalled) == ("VolumesNotMounted", False)
    for needed in ("Secret clients with key all", "ConfigMap demo", "PersistentVolumeClaim models"):
        assert needed in problem.message
    assert "kubectl describe pod demo-1" in problem.message


def test_a_pod_that_mounts_nothing_of_others_is_reported_without_a_list() -> None:
    problem = unprepared_problem({**pod(), "spec": {}}, LATER)
    assert problem
    assert "make sure" not in problem.message


@pytest.mark.parametrize(
    "healthy",
    [
        pod("True"),
        pod(phase="Running"),
        pod(phase="Failed"),
        pod(conditions=[]),
        {**pod(), "metadata": {"name": "demo-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"metadata": {"name": "demo-1"}, "spec": {}},
    ],
    ids=("prepared", "running", "failed", "unscheduled", "ending", "new"),
)
def test_other_pods_are_left_alone(healthy: dict[str, Any]) -> None:
    assert not is_unprepared(healthy)
    assert unprepared_problem(healthy, LATER) is None
