"""Clients that each send their next request when the last one is answered."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.work.phases import phase_at
from orthrus_serving.bench.work.workload import Workload

_PAUSE_AFTER_FAILURE_SECONDS = 0.1
"""A server that refuses at once must not be flooded by clients that a slow one would hold."""


@dataclass(frozen=True)
class ClosedLoop:
    """`clients` requests are open at any time; all clients share one order of requests."""

    clients: int
    requests: int | None = None
    """Ends after so many requests, all answered; None ends with the workload's last phase."""

    async def run(
        self, record: Record, workload: Workload, warm_up: float, now: Callable[[], float]
    ) -> None:
        """Sends; requests that are open when time is up are given up, and not recorded."""
        streams = [workload.requests(phase) for phase in range(len(workload.phases))]
        end = warm_up + workload.seconds
        left = self.requests

        async def client() -> None:
            nonlocal left
            while now() < end if left is None else left > 0:
                if left is not None:
                    left -= 1
                began = now()
                phase = phase_at(workload.phases, max(0.0, began - warm_up))
                outcome = await record.send(next(streams[phase]), began)
                if outcome.error is not None:
                    await asyncio.sleep(_PAUSE_AFTER_FAILURE_SECONDS)

        clients = [asyncio.create_task(client()) for _ in range(self.clients)]
        try:
            await asyncio.wait(clients, timeout=None if left is not None else end - now())
        finally:
            for task in clients:
                task.cancel()
            results = await asyncio.gather(*clients, return_exceptions=True)
        raise_first(results)


def raise_first(results: list[BaseException | None]) -> None:
    """A client that broke is a defect here, not an outcome."""
    for result in results:
        if result is not None and not isinstance(result, asyncio.CancelledError):
            raise result
