"""What replicas say of their adapters, and what it amounts to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.api.status import AdapterStatus
from orthrus_operator.planner.problem import Problem


@dataclass(frozen=True)
class AdapterReport:
    """One adapter in one replica."""

    name: str
    state: str
    """loading, loaded or failed."""
    message: str = ""


@dataclass(frozen=True)
class ReplicaReport:
    """What one ready replica answered; None when it did not."""

    pod: str
    adapters: tuple[AdapterReport, ...] | None


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
        found = list(_reports_of(adapter.name, answered))
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


def _reports_of(
    name: str, answered: Iterable[ReplicaReport]
) -> Iterable[tuple[str, AdapterReport]]:
    for replica in answered:
        for report in replica.adapters or ():
            if report.name == name:
                yield replica.pod, report
