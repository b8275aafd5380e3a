"""The spread of a set of durations."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

LEAST_FOR_P99 = 100
"""Durations without which a p99 would be little else than the longest one."""


@dataclass(frozen=True)
class Spread:
    """In seconds; percentiles by linear interpolation."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float | None
    """None of fewer than `LEAST_FOR_P99`."""
    max: float


def spread(seconds: Iterable[float]) -> Spread | None:
    """None when there are no durations: nothing was measured, which is not zero."""
    found = np.fromiter(seconds, float)
    if not found.size:
        return None
    p50, p90, p99 = (float(p) for p in np.percentile(found, (50, 90, 99)))
    return Spread(
        found.size,
        float(found.mean()),
        p50,
        p90,
        p99 if found.size >= LEAST_FOR_P99 else None,
        float(found.max()),
    )
