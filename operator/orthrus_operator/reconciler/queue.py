"""A keyed work queue: each key once, serial per key, with back-off, resync and a time limit.

The level-triggered core of a controller, as client-go's workqueue: an event only says *which*
object to look at, so any number of events while a key waits are one look.
"""

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from orthrus_operator.reconciler.operator_metrics import OperatorMetrics
from orthrus_operator.reconciler.outcome import Outcome

Key = TypeVar("Key", bound=Hashable)

_MOST_DOUBLINGS = 64

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueueSettings:
    """Times are in seconds."""

    resync: float = 600.0
    """A key is looked at again after this (up to a tenth less, so that they spread)."""
    time_limit: float = 60.0
    """A look that takes longer has failed."""
    first_backoff: float = 1.0
    longest_backoff: float = 60.0
    calm: float = 1.0
    """Least time between the starts of two looks at a key, for what can wait so long."""
    workers: int = 4


@dataclass
class _Entry:
    """State of one key; there is exactly one per key, so one timer and one count."""

    waiting_since: float | None = None
    looking_since: float | None = None
    """None while no look at it is going on."""
    looked_at: float = -math.inf
    """When its last look began, by the loop's clock."""
    calm: asyncio.TimerHandle | None = None
    """Adds it once that was long enough ago."""
    failures: int = 0
    timer: asyncio.TimerHandle | None = None
    backing_off: bool = False
    """Whether the last look failed and its timer hasn't fired: an event that comes sooner, perhaps
    from our own status write, gets a look but no longer back-off."""


class KeyedQueue(Generic[Key]):
    """Calls `look` for every added key until told that it is gone."""

    def __init__(
        self,
        look: Callable[[Key], Awaitable[Outcome]],
        settings: QueueSettings,
        metrics: OperatorMetrics | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._settings = settings
        self._metrics = metrics or OperatorMetrics()
        self._metrics.show_oldest_waiting(self.longest_wait)
        self._clock = clock
        self._ended_at = -math.inf
        """When the last look ended, whatever came of it."""
        self._entries: dict[Key, _Entry] = {}
        self._ready: asyncio.Queue[Key] = asyncio.Queue()

    def add(self, key: Key) -> None:
        """Makes sure that `key` is looked at after now. From the event loop's thread only."""
        entry = self._entries.setdefault(key, _Entry())
        if entry.waiting_since is None:
            entry.waiting_since = self._clock()
            if entry.looking_since is None:
                self._ready.put_nowait(key)

    def add_calmly(self, key: Key) -> None:
        """As `add`, unless the last look began just now: then a little later, once for all calls
        until then. Of a key on the move they come by the dozen."""
        entry = self._entries.setdefault(key, _Entry())
        if entry.waiting_since is not None or entry.calm:
            return
        loop, due = asyncio.get_running_loop(), entry.looked_at + self._settings.calm
        if loop.time() >= due:
            self.add(key)
        else:
            entry.calm = loop.call_at(due, self._calm_is_over, key)

    def longest_wait(self) -> float:
        """Seconds that the oldest key has waited for a look; 0 when none waits."""
        now = self._clock()
        waits = (
            now - entry.waiting_since
            for entry in self._entries.values()
            if entry.waiting_since is not None
        )
        return max(waits, default=0.0)

    def standstill(self) -> float:
        """Seconds for which keys have waited and no look has ended, or for which a look has gone on
        that should have been over after its time limit; 0 when there is nothing to do.

        That a key waits for long may only mean that there are many before it.
        """
        now = self._clock()
        looks = (
            now - entry.looking_since
            for entry in self._entries.values()
            if entry.looking_since is not None
        )
        return max(min(self.longest_wait(), now - self._ended_at), *looks, 0.0)

    async def run(self) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._settings.workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._ready.get()
            entry = self._entries[key]
            if entry.waiting_since is not None:
                self._metrics.waited(self._clock() - entry.waiting_since)
            entry.waiting_since, entry.looking_since = None, self._clock()
            entry.looked_at = asyncio.get_running_loop().time()
            for timer in (entry.timer, entry.calm):
                if timer:
                    timer.cancel()
            entry.timer = entry.calm = None
            outcome = await self._look_once(key)
            entry.looking_since, self._ended_at = None, self._clock()
            self._plan_next(key, entry, outcome)

    async def _look_once(self, key: Key) -> Outcome:
        started, result = self._clock(), "error"
        try:
            async with asyncio.timeout(self._settings.time_limit):
                outcome = await self._look(key)
            result = outcome.name.lower()
            return outcome
        except Exception as error:
            # Whatever went wrong with one object must not end the worker of all others.
            _logger.warning("reconcile of %s failed: %r", key, error)
            return Outcome.RETRY
        finally:
            self._metrics.reconciled(result, self._clock() - started)

    def _plan_next(self, key: Key, entry: _Entry, outcome: Outcome) -> None:
        if entry.waiting_since is not None:
            self._ready.put_nowait(key)
        elif outcome is Outcome.GONE:
            if entry.calm:
                entry.calm.cancel()
            del self._entries[key]
            return
        delay = self._delay(entry, outcome)
        if entry.waiting_since is None:
            entry.timer = asyncio.get_running_loop().call_later(delay, self._timer_fired, key)

    def _delay(self, entry: _Entry, outcome: Outcome) -> float:
        settings = self._settings
        if outcome is not Outcome.RETRY:
            entry.failures, entry.backing_off = 0, False
            return settings.resync * random.uniform(0.9, 1.0)  # noqa: S311
        if not entry.backing_off:
            entry.failures, entry.backing_off = entry.failures + 1, True
        # After a thousand failures, less than a day, 2.0 to their number is no float any more.
        doublings = min(entry.failures - 1, _MOST_DOUBLINGS)
        return min(settings.first_backoff * 2.0**doublings, settings.longest_backoff)

    def _timer_fired(self, key: Key) -> None:
        self._entries[key].backing_off = False
        self.add(key)

    def _calm_is_over(self, key: Key) -> None:
        self._entries[key].calm = None
        self.add(key)
