"""Whatever scales an OrthrusDeployment: ours, KEDA's and a user's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.autoscaler import AUTOSCALER_KINDS
from orthrus_operator.planner.problem import Problem, worst
from orthrus_operator.planner.scaling_state import target_name
from orthrus_operator.planner.status import World
from orthrus_operator.reconciler.apply import Applied
from orthrus_operator.reconciler.ownership import is_owned, ownership_problem
from orthrus_operator.reconciler.paths import AUTOSCALER


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


def with_autoscalers(
    world: World, orthrus: OrthrusDeployment, live: Mapping[str, KubernetesObject], known: bool
) -> World:
    """`world` with what scales `orthrus`, if HPAs could be read so that it is `known`, and with
    what KEDA is to make that of."""
    ours = (
        child
        for child in live.values()
        if child["kind"] == "ScaledObject" and is_owned(child, orthrus.metadata.uid)
    )
    found = (
        child
        for child in live.values()
        if child["kind"] == AUTOSCALER[1] and target_name(child) == orthrus.metadata.name
    )
    autoscalers = tuple(found) if known else None
    return replace(world, autoscalers=autoscalers, scaled_object=next(ours, None))


def with_problems(world: World, made: Sequence[tuple[KubernetesObject, Applied]]) -> World:
    """`world` with what came of each child.

    Replicas serve without an autoscaler: what is wrong with one makes the object no less ready.
    """
    found = [(child["kind"], applied.problem) for child, applied in made if applied.problem]
    scaling = (problem for kind, problem in found if kind in AUTOSCALER_KINDS)
    return replace(
        world,
        problems=(
            *world.problems,
            *(problem for kind, problem in found if kind not in AUTOSCALER_KINDS),
        ),
        unscaled=worst((*([world.unscaled] if world.unscaled else []), *scaling)),
        notes=tuple(applied.note for _, applied in made if applied.note),
    )
