"""The condition ScalingActive says what the autoscaler says of itself."""

from typing import Any

import pytest

from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.scaling_state import scaling_verdict, target_name
from orthrus_operator.planner.status import observed_status
from orthrus_operator.planner.world import Scaling, World
from tests.orthrus_operator.making import demo

WORKS = {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound", "message": "yes"}
BLIND = {
    "type": "ScalingActive",
    "status": "False",
    "reason": "FailedGetPodsMetric",
    "message": "the HPA was unable to compute the replica count",
}
ABLE = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale", "message": "ok"}
UNABLE = {"type": "AbleToScale", "status": "False", "reason": "FailedGetScale", "message": "no"}
SCALED_OBJECT = {"metadata": {"name": "demo"}, "spec": {}}


def hpa(*conditions: dict[str, str], name: str = "demo") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {}, "status": {"conditions": list(conditions)}}


def verdict(*autoscalers: dict[str, Any], **other: Any) -> tuple[str, str] | None:
    found = scaling_verdict(autoscalers, **other)
    return (found.status, found.reason) if found else None


def test_without_an_autoscaler_there_is_no_condition() -> None:
    assert verdict() is None


def test_any_autoscaler_counts_whoever_made_it() -> None:
    assert verdict(hpa(ABLE, WORKS, name="by-hand")) == ("True", "ValidMetricFound")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([ABLE, WORKS], ("True", "ValidMetricFound")),
        ([ABLE, BLIND], ("False", "FailedGetPodsMetric")),
        ([UNABLE], ("False", "FailedGetScale")),
        ([UNABLE, WORKS], ("False", "FailedGetScale")),
        ([ABLE], ("True", "ReadyForNewScale")),
        ([], ("Unknown", "AutoscalerPending")),
    ],
)
def test_the_autoscalers_own_reason_is_shown(
    conditions: list[dict[str, str]], expected: tuple[str, str]
) -> None:
    assert verdict(hpa(*conditions)) == expected


def test_the_message_names_the_autoscaler_and_says_its_words() -> None:
    found = scaling_verdict([hpa(ABLE, BLIND, name="keda-hpa-demo")])
    assert found
    assert found.message == (
        "HorizontalPodAutoscaler keda-hpa-demo: the HPA was unable to compute the replica count"
    )


def test_of_two_the_one_that_fails_is_shown() -> None:
    assert verdict(hpa(ABLE, WORKS), hpa(ABLE, BLIND)) == ("False", "FailedGetPodsMetric")


def test_one_that_is_asked_for_and_not_there_is_awaited() -> None:
    assert verdict(wanted=True) == ("Unknown", "AutoscalerPending")
    found = scaling_verdict([], wanted=True, scaled_object=SCALED_OBJECT)
    assert found
    assert found.message == "KEDA has made no HorizontalPodAutoscaler of ScaledObject demo yet"


def test_what_keda_refuses_is_said_in_its_words() -> None:
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "TriggerError",
        "message": "Triggers defined in ScaledObject are not working correctly",
    }
    refused = SCALED_OBJECT | {"status": {"conditions": [condition]}}
    found = scaling_verdict([hpa(ABLE, WORKS)], wanted=True, scaled_object=refused)
    assert found
    assert (found.status, found.reason) == ("False", "TriggerError")
    assert "Triggers defined" in found.message


def test_why_none_could_be_made_comes_first() -> None:
    problem = Problem("NoPrometheus", "set prometheus.url", stalled=True)
    assert verdict(wanted=True, problem=problem) == ("False", "NoPrometheus")
    assert verdict(wanted=True, unmade=("ScaledObject",)) == ("False", "KindUnknown")
    assert verdict(hpa(ABLE, WORKS), unmade=("PodMonitor",)) == ("True", "ValidMetricFound")


def scaling_active(world: World, previous: dict[str, Any], **spec: Any) -> dict[str, Any] | None:
    status = observed_status(demo(**spec), world, previous, "now")
    found = (each for each in status["conditions"] if each["type"] == "ScalingActive")
    return next(found, None)


def test_what_could_not_be_read_is_as_it_was() -> None:
    scaled = {"kind": "HorizontalPodAutoscaler", **hpa(ABLE, WORKS)}
    unread = World(None, (), scaling=Scaling(None))
    assert scaling_active(unread, {}) is None
    before = scaling_active(World(None, (), scaling=Scaling((scaled,))), {})
    assert before
    assert scaling_active(unread, {"conditions": [before]}) == before
    problem = Problem("ApplyFailed", "trying again", stalled=False)
    unscaled = World(None, (), scaling=Scaling(None, problem=problem))
    after = scaling_active(unscaled, {"conditions": [before]})
    assert after
    assert after["reason"] == "ApplyFailed"


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ({"apiVersion": "serving.orthrus.io/v1alpha1", "kind": "OrthrusDeployment"}, "demo"),
        ({"apiVersion": "serving.orthrus.io/v1", "kind": "OrthrusDeployment"}, "demo"),
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, None),
        ({"kind": "OrthrusDeployment"}, None),
    ],
)
def test_what_an_hpa_scales(reference: dict[str, str], name: str | None) -> None:
    assert target_name({"spec": {"scaleTargetRef": {**reference, "name": "demo"}}}) == name
