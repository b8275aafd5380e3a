"""The Kubernetes HorizontalPodAutoscaler on the backlog, with the time that a replica loads."""

from collections import deque
from dataclasses import dataclass
from functools import partial
from math import ceil

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.pool import Pool

_TOLERANCE = 0.1
_SYNC_SECONDS = 15.0
_DOWN_WINDOW_SECONDS = 300.0
_UP_PODS = 4
"""A sync adds at most this many replicas, or as many as there are."""


@dataclass(frozen=True)
class AutoscalerSettings:
    """`AverageValue` of the backlog per replica; the rest is the controller's default.

    `load_seconds`: from the decision until a replica receives requests. `metric_age_seconds`:
    how old a backlog is when the controller reads it (scrape and rule intervals).
    """

    min_replicas: int
    max_replicas: int
    backlog_tokens_per_replica: float
    load_seconds: float
    metric_age_seconds: float = 15.0

    def __post_init__(self) -> None:
        if not 1 <= self.min_replicas <= self.max_replicas:
            raise ValueError(
                f"min replicas is {self.min_replicas} and max replicas {self.max_replicas}: "
                "1 <= min <= max must hold"
            )
        if self.backlog_tokens_per_replica <= 0:
            raise ValueError("the backlog tokens per replica must be above 0")


class Autoscaler:
    """Changes the size of a pool every 15 seconds; `sizes` has each moment and new size."""

    def __init__(self, clock: Clock, pool: Pool, settings: AutoscalerSettings) -> None:
        self._clock = clock
        self._pool = pool
        self._settings = settings
        # As the controller does: what it finds counts as wanted.
        self._recommended = deque([(clock.now, pool.size)])
        self.sizes: list[tuple[float, int]] = [(clock.now, pool.size)]
        clock.at(clock.now + _SYNC_SECONDS, self._observe)

    def _observe(self) -> None:
        seen = self._pool.backlog_tokens
        age = self._settings.metric_age_seconds
        self._clock.at(self._clock.now + age, partial(self._decide, seen))
        self._clock.at(self._clock.now + _SYNC_SECONDS, self._observe)

    def _decide(self, backlog_tokens: int) -> None:
        size = self._pool.size
        wanted = self._stabilized(self._wanted(backlog_tokens, size), size)
        if wanted > size:
            self._pool.grow(wanted - size, self._settings.load_seconds)
        elif wanted < size:
            self._pool.shrink(size - wanted)
        if self._pool.size != size:
            self.sizes.append((self._clock.now, self._pool.size))

    def _wanted(self, backlog_tokens: int, size: int) -> int:
        target = self._settings.backlog_tokens_per_replica
        if abs(backlog_tokens / (target * size) - 1) <= _TOLERANCE:
            return size
        bounded = max(self._settings.min_replicas, ceil(backlog_tokens / target))
        return min(self._settings.max_replicas, bounded)

    def _stabilized(self, wanted: int, size: int) -> int:
        """Up at a bounded rate, down to the most that was wanted within the window."""
        now = self._clock.now
        self._recommended.append((now, wanted))
        while self._recommended[0][0] < now - _DOWN_WINDOW_SECONDS:
            self._recommended.popleft()
        if wanted > size:
            return min(wanted, max(size + _UP_PODS, 2 * size))
        return min(size, max(each for _, each in self._recommended))
