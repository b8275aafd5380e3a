"""Clients that each send their next request when the last one is answered."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.work.phases import phase_at
from orthrus_serving.bench.work.request import Request
from orthrus_serving.bench.work.workload import Workload

_PAUSE_AFTER_FAILURE_SECONDS = 0.1
"""A server that refuses at once must not be flooded by clients that a slow one would hold."""
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class ClientSet:
    """`clients` requests of `workload` are open at any time, taken from one order."""

    clients: int
    workload: Workload


class BusyClients:
    """All clients of some sets, from entry to exit; requests open at the exit are given up."""

    def __init__(
        self,
        sets: Sequence[ClientSet],
        record: Record,
        now: Callable[[], float],
        requests: int | None = None,
    ) -> None:
        self.finished = [0] * sum(each.clients for each in sets)
        """Requests of each client that have ended, well or not."""
        self.measured_from: float | None = None
        """When the first phase began; before, requests are of its kind too."""
        self._sets = sets
        self._record = record
        self._now = now
        self._left = requests
        self._running: set[asyncio.Task[None]] = set()

    async def until(self, holds: Callable[[], bool], deadline: float) -> bool:
        """Whether `holds` came true before `deadline`, in seconds of the run."""
        while not holds():
            left = deadline - self._now()
            if left <= 0:
                return False
            wait = min(left, _POLL_SECONDS)
            ended, _ = await asyncio.wait(
                self._running, timeout=wait, return_when=asyncio.FIRST_EXCEPTION
            )
            raise_first(task.exception() for task in ended)
        return True

    async def all_sent(self) -> None:
        """Until every client is done, which needs a number of requests."""
        await asyncio.wait(self._running)

    async def __aenter__(self) -> Self:
        numbers = iter(range(len(self.finished)))
        for each in self._sets:
            phases = range(len(each.workload.phases))
            streams = [each.workload.requests(phase) for phase in phases]
            for _ in range(each.clients):
                client = self._client(next(numbers), each.workload, streams)
                self._running.add(asyncio.create_task(client))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._running:
            task.cancel()
        results = await asyncio.gather(*self._running, return_exceptions=True)
        if error is None:
            raise_first(results)

    async def _client(
        self, number: int, workload: Workload, streams: Sequence[Iterator[Request]]
    ) -> None:
        while self._left is None or self._left > 0:
            if self._left is not None:
                self._left -= 1
            began = self._now()
            since = began - self.measured_from if self.measured_from is not None else 0.0
            request = next(streams[phase_at(workload.phases, since)])
            outcome = await self._record.send(request, began)
            self.finished[number] += 1
            if outcome.error is not None:
                await asyncio.sleep(_PAUSE_AFTER_FAILURE_SECONDS)


def raise_first(results: Iterable[BaseException | None]) -> None:
    """A client that broke is a defect here, not an outcome."""
    for result in results:
        if result is not None and not isinstance(result, asyncio.CancelledError):
            raise result
