"""Paired ratios and what they say: the median, its interval, and whether a goal is met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import bootstrap

MIN_PAIRS = 9
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Goal:
    """A bound on the true ratio; `within` bounds how far it lies from 1."""

    sense: Literal["at most", "at least", "within"]
    bound: float

    def is_met(self, low: float, high: float) -> bool:
        """Whether the interval from `low` to `high` reaches the bound."""
        match self.sense:
            case "at most":
                return low <= self.bound
            case "at least":
                return high >= self.bound
            case "within":
                return low <= 1 + self.bound and high >= 1 - self.bound

    def __str__(self) -> str:
        return f"{self.sense} {self.bound:g}"


@dataclass(frozen=True)
class Pair:
    """A figure of both sides of one round, None where it was not measured."""

    name: str
    first: float | None
    second: float | None

    @property
    def ratio(self) -> float | None:
        return self.first / self.second if self.first is not None and self.second else None

    @property
    def obstacle(self) -> str:
        """Why there is no ratio."""
        sides = (("no A", self.first), ("no B", self.second))
        missing = [side for side, found in sides if found is None]
        return f"{self.name}: {', '.join(missing) or 'B is 0'}"


@dataclass(frozen=True)
class Comparison:
    """One row of the report; `ratios` has one entry for each pair that could be divided."""

    name: str
    meaning: str
    """What is divided by what."""
    ratios: Sequence[float]
    goal: Goal | None = None
    dropped: Sequence[str] = ()
    """Pairs that could not be divided, each with its reason."""

    @classmethod
    def of_pairs(
        cls, name: str, meaning: str, pairs: Sequence[Pair], goal: Goal | None = None
    ) -> Self:
        """Divides; what cannot be divided is told, never left out."""
        ratios = [pair.ratio for pair in pairs]
        return cls(
            name,
            meaning,
            [ratio for ratio in ratios if ratio is not None],
            goal,
            [pair.obstacle for pair in pairs if pair.ratio is None],
        )

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Reads what `report.ratio_table` has written of one."""
        goal = Goal(**found["goal"]) if found["goal"] else None
        return cls(found["name"], found["meaning"], found["ratios"], goal, found["dropped"])

    @property
    def median(self) -> float | None:
        return float(np.median(self.ratios)) if self.ratios else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Percentile bootstrap interval of the median, at `CONFIDENCE`."""
        if not self.ratios:
            return None
        if len(set(self.ratios)) == 1:
            return self.ratios[0], self.ratios[0]
        found = bootstrap(
            (np.asarray(self.ratios),),
            np.median,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
        return float(found.low), float(found.high)

    @property
    def verdict(self) -> str:
        """What to say of the goal; pairs that are missing, or too few, decide nothing: those that
        could not be divided may be just the bad ones."""
        if self.interval is None:
            return "not measured"
        if self.dropped:
            return "pairs missing"
        if self.goal is None:
            return "-"
        if len(self.ratios) < MIN_PAIRS:
            return "too few pairs"
        return "met" if self.goal.is_met(*self.interval) else "missed"
