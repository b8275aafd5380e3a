"""Paired ratios and what they say: the median, its interval, and whether a goal is met."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
class Comparison:
    """One row of the report.

    `ratios` has one entry for each pair of runs, and none when no pair could be divided since one
    side answered nothing.
    """

    name: str
    meaning: str
    """What is divided by what."""
    ratios: Sequence[float]
    goal: Goal | None = None

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
        """What to say of the goal; fewer than `MIN_PAIRS` pairs decide nothing."""
        if self.interval is None:
            return "not measured"
        if self.goal is None:
            return "-"
        if len(self.ratios) < MIN_PAIRS:
            return "too few pairs"
        return "met" if self.goal.is_met(*self.interval) else "missed"
