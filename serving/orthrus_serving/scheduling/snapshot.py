"""What the scheduler tells the front end about itself: cumulative counters and current gauges.

The front end pulls a snapshot about once a second and derives rates and ratios from two of
them, so the engine does no metric work per step beyond integer additions.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


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

    embedding: int = 0
    generation: int = 0


@dataclass(frozen=True)
class Snapshot:
    """State of one scheduler at one moment.

    Counters (cumulative since start): `scheduled_tokens`, `token_budget` (tokens offered over
    the same steps), `steps`. Gauges: `backlog_tokens` (prompt tokens not yet scheduled),
    `backlog_requests` (requests that still have such tokens), `kv_cache_usage` (0-1).
    """

    scheduled_tokens: UnitTokens = field(default_factory=UnitTokens)
    token_budget: int = 0
    steps: StepCounts = field(default_factory=StepCounts)
    backlog_tokens: ByTask = field(default_factory=ByTask)
    backlog_requests: ByTask = field(default_factory=ByTask)
    kv_cache_usage: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and numbers: all that an engine utility call carries safely."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Snapshot":
        return cls(
            scheduled_tokens=UnitTokens(**data["scheduled_tokens"]),
            token_budget=data["token_budget"],
            steps=StepCounts(**data["steps"]),
            backlog_tokens=ByTask(**data["backlog_tokens"]),
            backlog_requests=ByTask(**data["backlog_requests"]),
            kv_cache_usage=data["kv_cache_usage"],
        )
