"""What the status is to tell, from what was observed, planned and done."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.autoscaler import AUTOSCALER_KINDS
from orthrus_operator.planner.problem import Problem, worst
from orthrus_operator.planner.replica_report import ReplicaReport
from orthrus_operator.planner.scaling_state import target_name
from orthrus_operator.planner.world import Scaling, World
from orthrus_operator.reconciler.children import Done
from orthrus_operator.reconciler.ownership import is_owned
from orthrus_operator.reconciler.paths import AUTOSCALER
from orthrus_operator.reconciler.plan import Observed, Plan, own_deployment


def world_afterwards(
    orthrus: OrthrusDeployment,
    observed: Observed,
    todo: Plan,
    done: Done,
    reports: tuple[ReplicaReport, ...] | None,
) -> World:
    """Pure. `reports` are those of the pods in `observed`."""
    return World(
        deployment=own_deployment(orthrus, done.live),
        pods=observed.pods,
        reports=reports,
        problems=(*todo.problems, *_problems(done, scaling=False)),
        held_back=done.held_back,
        unmade=todo.unmade,
        notes=tuple(applied.note for _, applied in done.made if applied.note),
        scaling=_scaling(orthrus, observed, todo, done),
    )


def _scaling(orthrus: OrthrusDeployment, observed: Observed, todo: Plan, done: Done) -> Scaling:
    uid, name = orthrus.metadata.uid, orthrus.metadata.name
    autoscalers = tuple(
        child
        for child in done.live.values()
        if child["kind"] == AUTOSCALER[1] and target_name(child) == name
    )
    scaled_objects = (
        child
        for child in done.live.values()
        if child["kind"] == "ScaledObject" and is_owned(child, uid)
    )
    unscaled = [todo.unscaled] if todo.unscaled else []
    return Scaling(
        autoscalers=autoscalers if observed.knows_autoscalers else None,
        scaled_object=next(scaled_objects, None),
        problem=worst((*unscaled, *_problems(done, scaling=True))),
    )


def _problems(done: Done, *, scaling: bool) -> tuple[Problem, ...]:
    """Of autoscalers, without which replicas serve, so that the object is no less ready for them;
    or of all other children."""
    return tuple(
        applied.problem
        for child, applied in done.made
        if applied.problem and (child["kind"] in AUTOSCALER_KINDS) is scaling
    )
