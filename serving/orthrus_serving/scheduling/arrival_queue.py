"""Waiting requests of one task, in order of arrival."""

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterator
from heapq import merge
from operator import attrgetter

from orthrus_serving.scheduling.prefill import Prefill

_arrival = attrgetter("arrival")


class ArrivalQueue:
    """Adding a newcomer, removing any request and reading the head take constant time.

    A request that returns (preempted, or held up by something outside the scheduler) takes its
    old place again. Those are few, at most the rows of a batch plus the held up ones, so they
    live in a sorted list of their own. An `OrderedDict` holds the rest: a plain dict walks over
    the gaps that removed heads leave.
    """

    def __init__(self) -> None:
        self._newcomers: OrderedDict[int, Prefill] = OrderedDict()
        self._returned: list[Prefill] = []
        self._latest = -1

    def add(self, prefill: Prefill) -> None:
        if prefill.arrival > self._latest:
            self._latest = prefill.arrival
            self._newcomers[prefill.arrival] = prefill
        else:
            insort(self._returned, prefill, key=_arrival)

    def remove(self, prefill: Prefill) -> None:
        """Raises ValueError when the request does not wait here."""
        if self._newcomers.pop(prefill.arrival, None) is not None:
            return
        index = bisect_left(self._returned, prefill.arrival, key=_arrival)
        if index == len(self._returned) or self._returned[index] is not prefill:
            raise ValueError(f"request {prefill.request_id} is not waiting")
        del self._returned[index]

    def __len__(self) -> int:
        return len(self._newcomers) + len(self._returned)

    def __iter__(self) -> Iterator[Prefill]:
        """Lazy, in order of arrival; the queue must not change meanwhile."""
        newcomers = self._newcomers.values()
        return merge(self._returned, newcomers, key=_arrival) if self._returned else iter(newcomers)
