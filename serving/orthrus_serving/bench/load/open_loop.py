"""Requests that are sent when they are due, whether or not earlier ones are answered."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.load.clients import raise_first
from orthrus_serving.bench.load.record import UNFINISHED, Record
from orthrus_serving.bench.work.plan import Planned


@dataclass(frozen=True)
class OpenLoop:
    """A schedule; `drain` is how many seconds its last requests have to be answered."""

    plan: Callable[[], Iterable[Planned]]
    drain: float

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        """Sends; a request that is not answered in time fails as `UNFINISHED`."""
        open_requests: dict[asyncio.Task[Outcome], Planned] = {}
        for planned in self.plan():
            await asyncio.sleep(max(0.0, planned.at - now()))
            task = asyncio.create_task(record.send(planned.request, planned.at))
            open_requests[task] = planned
        if not open_requests:
            return
        _, late = await asyncio.wait(open_requests, timeout=self.drain)
        for task in late:
            task.cancel()
        results = await asyncio.gather(*open_requests, return_exceptions=True)
        for task in late:
            due = open_requests[task]
            record.note(Outcome(due.request.task, due.at, due.at, now(), error=UNFINISHED))
        raise_first([r if isinstance(r, BaseException) else None for r in results])
