"""From what each replica says to what an OrthrusDeployment as a whole does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orthrus_operator.planner.replica_sample import ReplicaSample

_EMBEDDING = "embedding_chunk"


class Look(NamedTuple):
    """Two scrapes of one replica: what its counters rose by between them is what it did."""

    before: ReplicaSample | None
    """None when this is the first one."""
    now: ReplicaSample


@dataclass(frozen=True)
class DeploymentLoad:
    """Sums and means over the replicas that answered; None and empty when none did."""

    answering: int = 0
    """Replicas that said what their engine does."""
    mix_ratio: float | None = None
    """Embedding share of the tokens that all scheduled between the looks; 0 when there were none.
    None also at the first look."""
    batch_fill_ratio: float | None = None
    """The same tokens, of those that the budgets of the same steps offered."""
    busy_ratio: float | None = None
    """Mean."""
    backlog_tokens: Mapping[str, float] = field(default_factory=dict)
    """Sum, by type."""
    gpu_utilization_ratio: float | None = None
    """Mean over all GPUs."""


def deployment_load(looks: Sequence[Look]) -> DeploymentLoad:
    """`looks` are those at the replicas that answered."""
    answering = [look for look in looks if look.now.backlog_tokens]
    compared = [look for look in answering if look.before]
    rises = [_rise(look) for look in compared]
    scheduled = sum(sum(rise.tokens.values()) for rise in rises)
    embedding = sum(rise.tokens.get(_EMBEDDING, 0.0) for rise in rises)
    offered = sum(rise.budget for rise in rises)
    return DeploymentLoad(
        answering=len(answering),
        mix_ratio=_ratio(embedding, scheduled) if compared else None,
        batch_fill_ratio=_ratio(scheduled, offered) if compared else None,
        busy_ratio=_mean(
            look.now.busy_ratio for look in answering if look.now.busy_ratio is not None
        ),
        backlog_tokens=_sums(look.now.backlog_tokens for look in answering),
        gpu_utilization_ratio=_mean(
            share for look in answering for share in look.now.gpu_utilization
        ),
    )


class _Rise(NamedTuple):
    """What counters rose by."""

    tokens: Mapping[str, float]
    budget: float


def _rise(look: Look) -> _Rise:
    rise = _difference(look.before or ReplicaSample(), look.now)
    fell = min((rise.budget, *rise.tokens.values())) < 0
    # One that has restarted counts from 0 again.
    return _difference(ReplicaSample(), look.now) if fell else rise


def _difference(before: ReplicaSample, now: ReplicaSample) -> _Rise:
    return _Rise(
        {
            unit: value - before.scheduled_tokens.get(unit, 0.0)
            for unit, value in now.scheduled_tokens.items()
        },
        (now.token_budget or 0.0) - (before.token_budget or 0.0),
    )


def _sums(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for key, value in part.items():
            total[key] = total.get(key, 0.0) + value
    return total


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
