"""Quantiles of Prometheus histograms."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Buckets:
    """A histogram: how many observations were at most each bound (seconds), `inf` among them."""

    counts: Mapping[float, float] = field(default_factory=dict)

    def since(self, before: "Buckets") -> "Buckets":
        """What came after `before`; everything when it counts from 0 again."""
        rises = {bound: n - before.counts.get(bound, 0.0) for bound, n in self.counts.items()}
        return self if min(rises.values(), default=0.0) < 0 else Buckets(rises)

    def plus(self, other: "Buckets") -> "Buckets":
        """Both together; they must have the same bounds, unless one is empty."""
        bounds = self.counts.keys() | other.counts.keys()
        return Buckets(
            {bound: self.counts.get(bound, 0.0) + other.counts.get(bound, 0.0) for bound in bounds}
        )

    def quantile(self, share: float) -> float | None:
        """Seconds that `share` (0 to 1) of the observations kept within; None without any.

        Linear inside a bucket; beyond the highest bound, that bound: as PromQL's
        `histogram_quantile`.
        """
        bounds = sorted(self.counts)
        total = self.counts[bounds[-1]] if bounds else 0.0
        if total <= 0:
            return None
        rank = share * total
        lower, below = 0.0, 0.0
        for bound in bounds:
            count = self.counts[bound]
            if count >= rank and count > below:
                if math.isinf(bound):
                    return lower
                return lower + (bound - lower) * (rank - below) / (count - below)
            lower, below = bound, count
        return lower
