"""What replicas say of their adapters, and what it amounts to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.api.status import AdapterStatus
from orthrus_operator.builders.adapters import declaration_digest
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport


@dataclass(frozen=True)
class AdapterState:
    """All declared adapters over all ready replicas."""

    statuses: tuple[AdapterStatus, ...] = ()
    complete: int = 0
    """Adapters that every ready replica has loaded."""
    observed: bool = True
    """Whether every ready replica answered."""
    failed: Problem | None = None

    @property
    def ready(self) -> bool:
        return self.observed and self.complete == len(self.statuses)


def adapter_state(
    declared: Sequence[Adapter], reports: Sequence[ReplicaReport], wanted: int
) -> AdapterState:
    """`wanted` is the number of replicas that should be there."""
    answered = [report for report in reports if report.adapters is not None]
    statuses, failures, complete = [], [], 0
    for adapter in declared:
        found = list(_reports_of(adapter, answered))
        loaded = sum(report.state == "loaded" for _, report in found)
        failed = [(pod, report) for pod, report in found if report.state == "failed"]
        complete += 0 < loaded == len(reports)
        message = f"{failed[0][0]}: {failed[0][1].message}" if failed else ""
        failures += [f"{adapter.name} in pod {message}"] if failed else []
        statuses.append(
            AdapterStatus(name=adapter.name, ready=f"{loaded}/{wanted}", message=message)
        )
    problem = Problem("AdapterFailed", "; ".join(failures), stalled=True) if failures else None
    return AdapterState(tuple(statuses), complete, len(answered) == len(reports), problem)


def kept_adapter_state(
    declared: Sequence[Adapter], previous: Mapping[str, Any], generation: int, wanted: int
) -> AdapterState:
    """As the status `previous` told it, while nobody has asked the replicas yet. What it told of an
    earlier generation of the spec counts for nothing."""
    if previous.get("observedGeneration") != generation or "adapters" not in previous:
        return adapter_state(declared, (), wanted)
    (told,) = (each for each in previous["conditions"] if each["type"] == "AdaptersReady")
    statuses = tuple(AdapterStatus.model_validate(each) for each in previous["adapters"])
    failed = told["reason"] == "AdapterFailed"
    return AdapterState(
        statuses,
        complete=int(previous["adaptersReady"].partition("/")[0]),
        observed=told["reason"] != "NotObserved",
        failed=Problem("AdapterFailed", told["message"], stalled=True) if failed else None,
    )


def _reports_of(
    adapter: Adapter, answered: Iterable[ReplicaReport]
) -> Iterable[tuple[str, AdapterReport]]:
    """With the names of the pods; one about an earlier adapter of this name is none."""
    digest = declaration_digest(adapter)
    for replica in answered:
        for report in replica.adapters or ():
            if (report.name, report.declaration) == (adapter.name, digest):
                yield replica.pod, report
