"""What the autoscaler of an OrthrusDeployment says of itself, whoever made it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthrus_operator.api.group import GROUP, KIND
from orthrus_operator.api.status import ConditionStatus
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.conditions import Verdict
from orthrus_operator.planner.problem import Problem

_TOLD_BY = ("AbleToScale", "ScalingActive")
"""Conditions of an HPA of which both must be true for it to work; the first one matters more."""
_WORST_FIRST: tuple[ConditionStatus, ...] = ("False", "Unknown", "True")


def target_name(autoscaler: Mapping[str, Any]) -> str | None:
    """The OrthrusDeployment that an HPA scales; None when it scales something else."""
    reference = autoscaler["spec"]["scaleTargetRef"]
    ours = reference.get("apiVersion", "").startswith(f"{GROUP}/") and reference["kind"] == KIND
    return str(reference["name"]) if ours else None


def scaling_verdict(
    autoscalers: Sequence[KubernetesObject],
    *,
    wanted: bool = False,
    scaled_object: KubernetesObject | None = None,
    problem: Problem | None = None,
    unmade: tuple[str, ...] = (),
) -> Verdict | None:
    """The condition ScalingActive; None when nothing scales it and nothing should.

    `autoscalers` are the HPAs that scale it: ours, KEDA's, a user's. `wanted` is whether the spec
    asks for one; then `problem` or a kind that is `unmade` may be why there is none, and our
    `scaled_object` is what KEDA makes one from.
    """
    if problem:
        return _verdict("False", problem.reason, problem.message)
    if "ScaledObject" in unmade:
        return _verdict(
            "False",
            "KindUnknown",
            "no ScaledObject was made, since this cluster does not know that kind: install KEDA,"
            " or set spec.autoscaling.backend to hpa",
        )
    found = [*_refusals(scaled_object), *(_verdict_of(each) for each in autoscalers)]
    if found:
        return min(found, key=lambda verdict: _WORST_FIRST.index(verdict.status))
    if not wanted:
        return None
    if scaled_object is None:
        return _verdict("Unknown", "AutoscalerPending", "the autoscaler is being made")
    name = scaled_object["metadata"]["name"]
    message = f"KEDA has made no HorizontalPodAutoscaler of ScaledObject {name} yet"
    return _verdict("Unknown", "AutoscalerPending", message)


def _refusals(scaled_object: KubernetesObject | None) -> Iterator[Verdict]:
    """KEDA's word that it cannot use what we made."""
    conditions = (scaled_object or {}).get("status", {}).get("conditions", [])
    for condition in conditions:
        if condition["type"] == "Ready" and condition["status"] == "False":
            message = f"ScaledObject: {condition.get('message', '')}"
            yield _verdict("False", condition.get("reason") or "NotReady", message)


def _verdict_of(autoscaler: Mapping[str, Any]) -> Verdict:
    name = f"HorizontalPodAutoscaler {autoscaler['metadata']['name']}"
    conditions = {
        condition["type"]: condition
        for condition in autoscaler.get("status", {}).get("conditions", [])
    }
    told = [conditions[type_] for type_ in _TOLD_BY if type_ in conditions]
    if not told:
        return _verdict("Unknown", "AutoscalerPending", f"{name} has not looked yet")
    condition = next((each for each in told if each["status"] == "False"), told[-1])
    message = f"{name}: {condition.get('message', '')}"
    return _verdict(condition["status"], condition["reason"], message)


def _verdict(status: ConditionStatus, reason: str, message: str) -> Verdict:
    return Verdict("ScalingActive", status, reason, message)
