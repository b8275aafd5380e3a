"""What the scheduler tells the front end about itself: cumulative counters and current gauges.

The front end pulls a snapshot about once a second and derives rates and ratios from two of
them, so the engine does no metric work per step beyond a few additions.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

STEP_SECONDS_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets; one more holds all that is longer."""


@dataclass(frozen=True)
class UnitTokens:
    """Tokens by batch unit (paper §3.1)."""

    embedding_chunk: int = 0
    generation_prefill: int = 0
    decode: int = 0


@dataclass(frozen=True)
class StepCounts:
    """Engine steps by what they held; a step without tokens is not counted."""

    mixed: int = 0
    embedding: int = 0
    generation: int = 0


@dataclass(frozen=True)
class ByTask:
    """One number for each task."""

    embedding: float = 0
    generation: float = 0

    @property
    def total(self) -> float:
        return self.embedding + self.generation


@dataclass(frozen=True)
class Durations:
    """A histogram: how many were at most each of `STEP_SECONDS_BOUNDS` and above the one before,
    how many were longer than all of them, and their sum in seconds.
    """

    counts: tuple[int, ...] = (0,) * (len(STEP_SECONDS_BOUNDS) + 1)
    total: float = 0.0


@dataclass(frozen=True)
class PhaseSeconds:
    """Steps by duration of their phases.

    schedule: planning, up to the launch. forward: from there to the arrival of the output, less
    the time in which an earlier step was still awaited. emit: turning the output into answers.
    """

    schedule: Durations = field(default_factory=Durations)
    forward: Durations = field(default_factory=Durations)
    emit: Durations = field(default_factory=Durations)


@dataclass(frozen=True)
class Snapshot:
    """State of one scheduler at one moment, `taken_at` by its own clock (seconds).

    Counters (cumulative since start): `scheduled_tokens`, `token_budget` (tokens offered over
    the same steps), `steps`, `step_seconds`, `busy_seconds` (time with a forward pass in flight).
    Gauges: `backlog_tokens` (prompt tokens not yet scheduled), `backlog_requests` (requests that
    still have such tokens), `oldest_waiting_seconds` (age of the oldest request that waits to
    be scheduled for the first time or again), `kv_cache_usage` (0-1).
    """

    taken_at: float = 0.0
    scheduled_tokens: UnitTokens = field(default_factory=UnitTokens)
    token_budget: int = 0
    steps: StepCounts = field(default_factory=StepCounts)
    step_seconds: PhaseSeconds = field(default_factory=PhaseSeconds)
    busy_seconds: float = 0.0
    backlog_tokens: ByTask = field(default_factory=ByTask)
    backlog_requests: ByTask = field(default_factory=ByTask)
    oldest_waiting_seconds: ByTask = field(default_factory=ByTask)
    kv_cache_usage: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and numbers: all that an engine utility call carries safely."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Snapshot":
        return cls(
            taken_at=data["taken_at"],
            scheduled_tokens=UnitTokens(**data["scheduled_tokens"]),
            token_budget=data["token_budget"],
            steps=StepCounts(**data["steps"]),
            step_seconds=PhaseSeconds(
                **{
                    phase: Durations(tuple(durations["counts"]), durations["total"])
                    for phase, durations in data["step_seconds"].items()
                }
            ),
            busy_seconds=data["busy_seconds"],
            backlog_tokens=ByTask(**data["backlog_tokens"]),
            backlog_requests=ByTask(**data["backlog_requests"]),
            oldest_waiting_seconds=ByTask(**data["oldest_waiting_seconds"]),
            kv_cache_usage=data["kv_cache_usage"],
        )
