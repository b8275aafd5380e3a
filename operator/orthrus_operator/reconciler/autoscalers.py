"""Autoscalers that we made for an earlier spec."""

from collections.abc import Mapping

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.autoscaler import AUTOSCALER_KINDS
from orthrus_operator.planner.problem import Problem
from orthrus_operator.reconciler.ownership import is_owned, ownership_problem


def retired_autoscalers(
    live: Mapping[str, KubernetesObject], kept: set[str], owner_uid: str
) -> dict[str, KubernetesObject]:
    """By path, the ones that we made for an earlier spec."""
    return {
        path: child
        for path, child in live.items()
        if child["kind"] in AUTOSCALER_KINDS and path not in kept and is_owned(child, owner_uid)
    }


def ending(retired: Mapping[str, KubernetesObject], owner_uid: str) -> Problem | None:
    """Why there is none yet, when one that an earlier pass deleted is still there."""
    problems = (ownership_problem(child, owner_uid) for child in retired.values())
    return next((problem for problem in problems if problem), None)
