"""What a run of Iter-RetGen shows beyond its requests: recall, and the time of whole queries."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from orthrus_serving.bench.measure.spread import Spread, spread
from orthrus_serving.bench.retgen.query import Answered

EXTRA = "iter_retgen"
"""Their name in the file of a result."""


@dataclass(frozen=True)
class Findings:
    """Recall is the share of queries whose own passage was retrieved."""

    queries: int
    lost: int
    queries_per_second: float
    latency: Spread | None
    """Of a whole query, in seconds."""
    retrieved: int
    """Passages for each query and iteration."""
    recall: Sequence[float]
    """Of each iteration: the first knows the question only."""
    chance: float
    """Recall of passages that are drawn blindly."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        latency = found["latency"]
        return cls(**{**found, "latency": latency and Spread(**latency)})


def find(
    answered: Sequence[Answered], lost: int, *, passages: int, retrieved: int, iterations: int
) -> Findings:
    """Of all queries of a run, each with `retrieved` of the `passages` in each iteration."""
    started = min((a.started for a in answered), default=0.0)
    ended = max((a.ended for a in answered), default=0.0)
    return Findings(
        queries=len(answered),
        lost=lost,
        queries_per_second=len(answered) / (ended - started) if answered else 0.0,
        latency=spread(a.ended - a.started for a in answered),
        retrieved=retrieved,
        recall=[recall(answered, iteration) for iteration in range(iterations)],
        chance=retrieved / passages,
    )


def recall(answered: Sequence[Answered], iteration: int) -> float:
    """Of one iteration; 0 when nothing was answered."""
    hits = sum(a.query.passage in a.iterations[iteration].retrieved for a in answered)
    return hits / len(answered) if answered else 0.0
