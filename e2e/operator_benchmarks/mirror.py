"""A collection as a watch shows it."""

import asyncio
import time
from collections.abc import Callable, Mapping

from e2e.operator_benchmarks.client import Client, Object

_EVERY_SECONDS = 0.05


class Mirror:
    """The objects of a collection by name, as new as the last event."""

    def __init__(self, client: Client, path: str) -> None:
        self._client = client
        self.path = path
        self.objects: dict[str, Object] = {}
        self.listener: Callable[[Object], None] | None = None
        """Called with each object as its event is read."""

    async def run(self) -> None:
        """Until it is cancelled. Raises RuntimeError when the watch ends, aiohttp.ClientError."""
        found, version = await self._client.list(self.path)
        self.objects = {_name(each): each for each in found}
        async for event, each in self._client.watch(self.path, version):
            if event == "ERROR":
                raise RuntimeError(f"the watch of {self.path} failed: {each}")
            if event == "DELETED":
                self.objects.pop(_name(each), None)
            else:
                self.objects[_name(each)] = each
            if self.listener:
                self.listener(each)
        raise RuntimeError(f"the watch of {self.path} ended")

    async def until(
        self, what: str, accept: Callable[[Mapping[str, Object]], bool], within: float
    ) -> None:
        """Raises TimeoutError with `what` when `accept` isn't true within so many seconds."""
        deadline = time.monotonic() + within
        while not accept(self.objects):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not within {within:.0f} s")
            await asyncio.sleep(_EVERY_SECONDS)


def _name(found: Object) -> str:
    return str(found["metadata"]["name"])
