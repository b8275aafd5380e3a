"""The watches that go through a proxy, and what may become of them."""

import asyncio
import json
import random
from typing import Any

import aiohttp
from aiohttp import web


class ProxiedWatches:
    """All that are open; each ends with its client, with the API server, or by one of these verbs.

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._open: dict[asyncio.Future[bytes], str] = {}
        """What ends one, by the last that its client is to read, and its `WATCH /path`."""
        self.expiring: set[str] = set()
        """Those that are still to be told that their version is too old."""

    def cut(self) -> set[str]:
        """Resets the connections of all; their names."""
        self._end_all(b"")
        return set(self._open.values())

    async def cut_at_random(self, chance: random.Random, pause: float) -> None:
        """Resets one after the other for ever, `pause` seconds apart on average."""
        while True:
            await asyncio.sleep(chance.expovariate(1 / pause))
            if self._open:
                _end(chance.choice(list(self._open)), b"")

    def fail(self, status: int) -> None:
        """Ends all by an ERROR event."""
        self._end_all(error_event(status))

    def expire(self, names: set[str]) -> None:
        """Has each of these be told, the next time, that its version is too old."""
        self.expiring |= names

    def is_too_old(self, name: str) -> bool:
        """Whether one that begins now is to be told so; it counts as told then."""
        if name not in self.expiring:
            return False
        self.expiring.remove(name)
        return True

    async def stream(
        self,
        name: str,
        source: aiohttp.StreamReader,
        request: web.Request,
        sink: web.StreamResponse,
    ) -> None:
        """Hands on what `source` says, until either side or one of the verbs ends it."""
        ending: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open[ending] = name
        try:
            while not ending.done():
                chunk = asyncio.ensure_future(source.readany())
                try:
                    await asyncio.wait({chunk, ending}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not chunk.done():
                        chunk.cancel()
                if ending.done():
                    break
                if not (data := chunk.result()):
                    return
                await sink.write(data)
        finally:
            del self._open[ending]
        if last := ending.result():
            await sink.write(last)
        else:
            hang_up(request)

    def _end_all(self, last: bytes) -> None:
        for ending in self._open:
            _end(ending, last)


def _end(ending: asyncio.Future[bytes], last: bytes) -> None:
    if not ending.done():
        ending.set_result(last)


def hang_up(request: web.Request) -> None:
    """Resets the connection that `request` came by."""
    if request.transport:
        request.transport.abort()


def error_event(status: int) -> bytes:
    """As it comes in an answer of 200."""
    event = {"type": "ERROR", "object": failure(status)}
    return json.dumps(event).encode() + b"\n"


def failure(status: int) -> dict[str, Any]:
    """What an API server says of a request that it does not answer otherwise."""
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "code": status,
        "message": "injected fault",
    }
