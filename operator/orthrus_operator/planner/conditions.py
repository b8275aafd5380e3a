"""The conditions, by the rules of kstatus: Ready, Reconciling, Stalled; what else one asks."""

from dataclasses import dataclass, replace

from orthrus_operator.api.reasons import Reason
from orthrus_operator.api.status import ConditionStatus, ConditionType
from orthrus_operator.planner.adapter_state import AdapterState
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.rollout_state import RolloutState


@dataclass(frozen=True)
class Verdict:
    """One condition, without its times."""

    type: ConditionType
    status: ConditionStatus
    reason: Reason | str
    """Of ScalingActive mostly the autoscaler's own."""
    message: str


def verdicts(
    wanted: int,
    rollout: RolloutState,
    problem: Problem | None,
    adapters: AdapterState,
    *,
    held_back: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    awaited: tuple[str, ...] = (),
) -> tuple[Verdict, ...]:
    """Conditions of a deployment that wants `wanted` replicas.

    `problem` is the worst one known; `held_back` names the objects that `spec.paused` keeps from
    being brought in line, `notes` say what makes it no less ready, `awaited` what its progress
    waits for.
    """
    if held_back:
        problem = _paused(held_back)
    problem = problem or adapters.failed
    ready = _ready(wanted, rollout, problem, adapters)
    if ready.reason == "Progressing":
        ready = replace(ready, message="; ".join((ready.message, *awaited)))
    if ready.status == "True":
        ready = replace(ready, message="; ".join((ready.message, *notes)))
    return (
        ready,
        _reconciling(ready, problem),
        _stalled(problem),
        _available(wanted, rollout),
        _adapters_ready(wanted, rollout, adapters),
    )


def unobserved_verdicts(problem: Problem, *, scaled: bool) -> tuple[Verdict, ...]:
    """Conditions of a deployment that could not be looked at, because of `problem`; `scaled` is
    whether it has an autoscaler."""
    ready = Verdict("Ready", "False", problem.reason, problem.message)
    unknown: tuple[ConditionType, ...] = ("Available", "AdaptersReady")
    return (
        ready,
        _reconciling(ready, problem),
        _stalled(problem),
        *(
            Verdict(type_, "Unknown", "NotObserved", "see Ready")
            for type_ in (*unknown, *(("ScalingActive",) if scaled else ()))
        ),
    )


def _paused(held_back: tuple[str, ...]) -> Problem:
    """Stalled, not on its way: whoever waits by kstatus would wait for ever."""
    message = f"spec.paused holds back changes to {', '.join(held_back)}; set it to false"
    return Problem("Paused", message, stalled=True)


def _ready(
    wanted: int, rollout: RolloutState, problem: Problem | None, adapters: AdapterState
) -> Verdict:
    complete = rollout.current and rollout.replicas == rollout.updated == rollout.ready == wanted
    if problem:
        return Verdict("Ready", "False", problem.reason, problem.message)
    if not complete:
        return Verdict("Ready", "False", "Progressing", _progress(wanted, rollout))
    if wanted == 0:
        return Verdict("Ready", "True", "ScaledToZero", "no replica is wanted and none runs")
    # Replicas that do not answer us may well serve: their own readiness says so.
    if adapters.observed and not adapters.ready:
        return Verdict("Ready", "False", "AdaptersLoading", _adapter_count(adapters))
    return Verdict("Ready", "True", "ReplicasReady", f"{_of(wanted, rollout.ready)} ready")


def _progress(wanted: int, rollout: RolloutState) -> str:
    if not rollout.current:
        return "waiting for the Deployment controller to see the present spec"
    parts = [f"{_of(wanted, rollout.ready)} ready"]
    if rollout.updated < rollout.replicas:
        parts.append(f"{rollout.replicas - rollout.updated} still run an earlier spec")
    if rollout.replicas > wanted:
        parts.append(f"{rollout.replicas - wanted} too many")
    if rollout.ready < rollout.replicas:
        parts.append(f"{rollout.replicas - rollout.ready} starting")
    return ", ".join(parts)


def _reconciling(ready: Verdict, problem: Problem | None) -> Verdict:
    if ready.status == "True":
        return Verdict("Reconciling", "False", "Reconciled", "everything is as the spec wants it")
    if problem and problem.stalled:
        return Verdict("Reconciling", "False", "Stalled", "waiting for a change; see Stalled")
    return Verdict("Reconciling", "True", ready.reason, ready.message)


def _stalled(problem: Problem | None) -> Verdict:
    if problem and problem.stalled:
        return Verdict("Stalled", "True", problem.reason, problem.message)
    return Verdict("Stalled", "False", "NotStalled", "nothing waits for a change by hand")


def _available(wanted: int, rollout: RolloutState) -> Verdict:
    if rollout.ready > 0:
        message = f"{_of(wanted, rollout.ready)} ready"
        return Verdict("Available", "True", "ReplicasReady", message)
    if wanted == 0:
        return Verdict("Available", "False", "ScaledToZero", "no replica is wanted")
    return Verdict("Available", "False", "NoReplicaReady", "no replica answers requests; see Ready")


def _adapters_ready(wanted: int, rollout: RolloutState, adapters: AdapterState) -> Verdict:
    kind: ConditionType = "AdaptersReady"
    if not adapters.statuses:
        return Verdict(kind, "True", "NoAdapters", "no adapter is declared")
    if rollout.ready == 0:
        available = _available(wanted, rollout)
        return Verdict(kind, "False", available.reason, available.message)
    if adapters.failed:
        return Verdict(kind, "False", "AdapterFailed", adapters.failed.message)
    if not adapters.observed:
        message = "a ready replica does not tell the operator of its adapters"
        return Verdict(kind, "Unknown", "NotObserved", message)
    if adapters.ready:
        return Verdict(kind, "True", "AdaptersLoaded", _adapter_count(adapters))
    return Verdict(kind, "False", "AdaptersLoading", _adapter_count(adapters))


def _adapter_count(adapters: AdapterState) -> str:
    return f"{adapters.complete} of {len(adapters.statuses)} adapters loaded by every ready replica"


def _of(wanted: int, ready: int) -> str:
    return f"{ready} of {wanted} replica{'' if wanted == 1 else 's'}"
