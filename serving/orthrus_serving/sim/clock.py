"""Simulated time: what is to happen, in order."""

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

Action = Callable[[], None]


class Clock:
    """Actions of one moment happen in the order in which they were asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self._asked = 0
        self._events: list[tuple[float, int, Action]] = []

    def at(self, moment: float, action: Action) -> None:
        heappush(self._events, (moment, self._asked, action))
        self._asked += 1

    def run(self, until: float = inf) -> None:
        """Up to and including `until`, or until nothing is left to happen."""
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, action = heappop(events)
            action()
        if until < inf:
            self.now = until
