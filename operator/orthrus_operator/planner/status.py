"""From the observed world to the status of an OrthrusDeployment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.api.status import (
    LONGEST_MESSAGE,
    Condition,
    ConditionType,
    Resolved,
    Status,
)
from orthrus_operator.builders.metadata import KubernetesObject, selector
from orthrus_operator.builders.service import endpoint
from orthrus_operator.planner.adapter_state import AdapterState, adapter_state, kept_adapter_state
from orthrus_operator.planner.awaited_drain import awaited_drains
from orthrus_operator.planner.conditions import Verdict, unobserved_verdicts, verdicts
from orthrus_operator.planner.containment import missing_field
from orthrus_operator.planner.embedding_space import SPACE_CONDITION, common_space, space_verdict
from orthrus_operator.planner.failed_pod import failed_pods
from orthrus_operator.planner.pod_problem import pod_problem
from orthrus_operator.planner.problem import Problem, worst
from orthrus_operator.planner.rollout_state import rollout_problems, rollout_state
from orthrus_operator.planner.scaling_state import scaling_verdict
from orthrus_operator.planner.unprepared_pod import unprepared_problem
from orthrus_operator.planner.world import World


def observed_status(
    orthrus: OrthrusDeployment, world: World, previous: Mapping[str, Any], now: str
) -> dict[str, Any]:
    """The status to write; equal to `previous` when nothing has changed.

    `now` is an RFC 3339 time: of conditions whose status differs from `previous`, and by which a
    pod may have waited, or ended, for too long.
    """
    rollout = rollout_state(world.deployment)
    wanted, generation = orthrus.spec.replicas, orthrus.metadata.generation
    newest_first = sorted(
        world.pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), reverse=True
    )
    drains = awaited_drains(newest_first, now)
    stopped = [pod for pod in newest_first if pod["metadata"]["name"] not in drains]
    pod_problems = _pod_problems(stopped, world.deployment, now)
    if rollout.ready < wanted:
        pod_problems += failed_pods(newest_first)
    problems = (*world.problems, *rollout_problems(world.deployment), *pod_problems)
    told = _told(orthrus, world, previous)
    conditions = (
        *verdicts(
            wanted,
            rollout,
            _explained(worst(problems), pod_problems),
            told.adapters,
            held_back=world.held_back,
            notes=_notes(world),
            awaited=tuple(f"pod {pod} waits for {other} to drain" for pod, other in drains.items()),
        ),
        told.consistent,
        _scaling(orthrus, world, previous),
    )
    adapters = told.adapters.statuses
    status = Status(
        observed_generation=generation,
        replicas=rollout.replicas,
        ready_replicas=rollout.ready,
        updated_replicas=rollout.updated,
        ready=f"{rollout.ready}/{wanted}",
        adapters_ready=f"{told.adapters.complete}/{len(adapters)}" if adapters else None,
        adapters=list(adapters) or None,
        selector=",".join(f"{key}={value}" for key, value in selector(orthrus).items()),
        endpoint=endpoint(orthrus),
        resolved=told.resolved,
        conditions=[
            _condition(verdict, generation, previous, now) for verdict in conditions if verdict
        ],
    )
    return status.model_dump(by_alias=True, mode="json", exclude_none=True)


def unobserved_status(
    generation: int, problem: Problem, previous: Mapping[str, Any], now: str
) -> dict[str, Any]:
    """The status to write when `problem` keeps the operator from looking.

    Counts and selector stay as they were: autoscalers read them.
    """
    scaled = any(each["type"] == "ScalingActive" for each in previous.get("conditions", []))
    conditions = [
        _condition(verdict, generation, previous, now)
        for verdict in unobserved_verdicts(problem, scaled=scaled)
    ]
    return {
        **previous,
        "observedGeneration": generation,
        "conditions": [each.model_dump(by_alias=True, mode="json") for each in conditions],
    }


class _Told(NamedTuple):
    """What the replicas told."""

    adapters: AdapterState
    resolved: Resolved | None
    consistent: Verdict | None


def _told(orthrus: OrthrusDeployment, world: World, previous: Mapping[str, Any]) -> _Told:
    """As before while nobody has asked them: an operator that was just started changes nothing."""
    declared, wanted = orthrus.spec.adapters or (), orthrus.spec.replicas
    if world.reports is None:
        before = previous.get("resolved")
        return _Told(
            kept_adapter_state(declared, previous, orthrus.metadata.generation, wanted),
            Resolved.model_validate(before) if before else None,
            _kept(previous, SPACE_CONDITION),
        )
    space = common_space(world.reports, orthrus.served_name)
    return _Told(
        adapter_state(declared, world.reports, wanted),
        Resolved(embedding_space=space) if space else None,
        space_verdict(world.reports),
    )


def _pod_problems(
    pods: Sequence[KubernetesObject], deployment: KubernetesObject | None, now: str
) -> list[Problem]:
    return [
        problem if _runs_present_spec(pod, deployment) else replace(problem, stalled=False)
        for pod in pods
        if (problem := pod_problem(pod) or unprepared_problem(pod, now))
    ]


def _notes(world: World) -> tuple[str, ...]:
    kinds = ", ".join(world.unmade)
    unmade = f"no {kinds} was made, since this cluster does not know that kind"
    return (*world.notes, *((unmade,) if kinds else ()))


def _scaling(
    orthrus: OrthrusDeployment, world: World, previous: Mapping[str, Any]
) -> Verdict | None:
    scaling = world.scaling
    if scaling.autoscalers is None and scaling.problem is None:
        return _kept(previous, "ScalingActive")
    return scaling_verdict(
        scaling.autoscalers or (),
        wanted=orthrus.spec.autoscaling is not None,
        scaled_object=scaling.scaled_object,
        problem=scaling.problem,
        unmade=world.unmade,
    )


def _kept(previous: Mapping[str, Any], type_: ConditionType) -> Verdict | None:
    """The condition as it was: nobody could look."""
    for condition in previous.get("conditions", []):
        if condition["type"] == type_:
            return Verdict(type_, condition["status"], condition["reason"], condition["message"])
    return None


def _runs_present_spec(pod: Mapping[str, Any], deployment: KubernetesObject | None) -> bool:
    """Whether the Deployment would make this pod today; what stops another one, a rollout heals."""
    template = (deployment or {}).get("spec", {}).get("template", {})
    return missing_field(template.get("spec", {}), pod.get("spec", {})) is None


def _explained(problem: Problem | None, pod_problems: list[Problem]) -> Problem | None:
    """A rollout that is stuck shows its pods' reason, which says more than that it is stuck."""
    if problem and problem.reason == "ProgressDeadlineExceeded" and pod_problems:
        return Problem(pod_problems[0].reason, pod_problems[0].message, stalled=True)
    return problem


def _condition(
    verdict: Verdict, generation: int, previous: Mapping[str, Any], now: str
) -> Condition:
    same = [
        condition["lastTransitionTime"]
        for condition in previous.get("conditions", [])
        if condition["type"] == verdict.type and condition["status"] == verdict.status
    ]
    return Condition(
        type=verdict.type,
        status=verdict.status,
        reason=verdict.reason,
        message=verdict.message[:LONGEST_MESSAGE],
        observed_generation=generation,
        last_transition_time=same[0] if same else now,
    )
