"""A question with a known answer, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from orthrus_serving.bench.retgen.iter_retgen import Iteration


@dataclass(frozen=True)
class Query:
    """A question whose passage is known."""

    question: str
    passage: int


@dataclass(frozen=True)
class Answered:
    """A query that has been answered; times are seconds after the start of the run."""

    query: Query
    started: float
    ended: float
    iterations: Sequence[Iteration]
