"""Events: what is news, and what is not."""

from typing import Any

import pytest

from orthrus_operator.planner.happenings import happenings


def status(
    ready: str, stalled: str = "False", available: str = "False", message: str = "text"
) -> dict[str, Any]:
    """`ready` is e.g. `False NoFreeGPU`."""
    state, reason = ready.split()
    reasons = {"True": "ReplicasReady", "False": "NoReplicaReady", "Unknown": "NotObserved"}
    return {
        "conditions": [
            {"type": "Ready", "status": state, "reason": reason, "message": message},
            {"type": "Stalled", "status": stalled, "reason": reason, "message": message},
            {
                "type": "Available",
                "status": available,
                "reason": reasons[available],
                "message": message,
            },
        ]
    }


def scaled(state: str, reason: str) -> dict[str, Any]:
    """A ready object with an autoscaler."""
    scaling = {"type": "ScalingActive", "status": state, "reason": reason, "message": "text"}
    return {"conditions": [*READY["conditions"], scaling]}


NEW: dict[str, Any] = {"observedGeneration": -1}
LOADING = status("False Progressing")
READY = status("True ReplicasReady", available="True")

WORKS, BLIND = scaled("True", "ValidMetricFound"), scaled("False", "FailedGetPodsMetric")

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a new autoscaler works": (READY, WORKS, []),
    "a new autoscaler fails": (READY, BLIND, ["Warning FailedGetPodsMetric"]),
    "an autoscaler goes blind": (WORKS, BLIND, ["Warning FailedGetPodsMetric"]),
    "it stays blind for another reason": (BLIND, scaled("False", "FailedGetScale"), []),
    "it sees again": (BLIND, WORKS, ["Normal ValidMetricFound"]),
    "it is scaled to zero by hand": (
        WORKS,
        scaled("False", "ScalingDisabled"),
        ["Normal ScalingDisabled"],
    ),
    "its autoscaler is taken away": (BLIND, READY, []),
    "a new object starts": (NEW, LOADING, ["Normal Progressing"]),
    "nothing changes": (LOADING, LOADING, []),
    "only a count changes": (LOADING, status("False Progressing", message="1 of 2"), []),
    "it becomes ready": (LOADING, READY, ["Normal ReplicasReady"]),
    "one of two becomes ready": (
        LOADING,
        status("False Progressing", available="True"),
        ["Normal ReplicasReady"],
    ),
    "it loses its only replica": (
        READY,
        status("False Crashed"),
        ["Warning Crashed", "Warning NoReplicaReady"],
    ),
    "a cause becomes known": (LOADING, status("False NoFreeGPU"), ["Warning NoFreeGPU"]),
    "it will not pass": (
        status("False Crashed"),
        status("False Crashed", stalled="True"),
        ["Warning Crashed"],
    ),
    "an adapter is on its way": (
        READY,
        status("False AdaptersLoading", available="True"),
        ["Normal AdaptersLoading"],
    ),
    "it is paused": (READY, status("False Paused", "True", "True"), ["Normal Paused"]),
    "it cannot be read": (
        READY,
        status("False InvalidSpec", "True", "Unknown"),
        ["Warning InvalidSpec"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_news(case: str) -> None:
    before, after, expected = CASES[case]
    assert [f"{each.type} {each.reason}" for each in happenings(before, after)] == expected


def test_an_event_says_what_the_condition_says() -> None:
    (happening,) = happenings(LOADING, status("False NoFreeGPU", message="free a GPU"))
    assert happening.message == "free a GPU"
