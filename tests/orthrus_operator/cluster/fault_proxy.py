"""A proxy before the API server that counts requests, and makes some slow or fail.

A request is named `METHOD /path`; one that watches, `WATCH /path`.
"""

import asyncio
import base64
import random
import re
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

import aiohttp
from aiohttp import web

from tests.orthrus_operator.cluster.proxied_watches import (
    ProxiedWatches,
    error_event,
    failure,
    hang_up,
)

Result = TypeVar("Result")

_HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "content-length", "host"})


class Reset(Enum):
    """When a connection is reset instead of an answer."""

    BEFORE = auto()
    """The API server never hears of the request."""
    AFTER = auto()
    """It has done what was asked for, and nobody is told."""


@dataclass(frozen=True)
class Fault:
    """What happens to a request whose name matches."""

    request: str
    status: int | Reset | None = None
    """Answered, or done, instead of the API server's answer; None: it only waits."""
    share: float = 1.0
    """Of matching requests, chosen at random."""
    delay: float = 0.0
    """Seconds."""


class FaultProxy:
    """Runs in a thread of its own until `close`; `cluster` is an entry of a kubeconfig."""

    def __init__(self, cluster: dict[str, str]) -> None:
        self._server = cluster["server"]
        self._trust = ssl.create_default_context(cadata=_authority(cluster))
        self._faults: list[Fault] = []
        self._random = random.Random(1)  # noqa: S311
        self._watches = ProxiedWatches()
        self.requests: list[str] = []
        """Names of all so far."""
        started: Future[str] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), daemon=True
        )
        self._thread.start()
        self.url = started.result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    @contextmanager
    def fault(self, *faults: Fault) -> Iterator[None]:
        """Disturbs matching requests inside the context."""
        self._faults.extend(faults)
        try:
            yield
        finally:
            for fault in faults:
                self._faults.remove(fault)

    @contextmanager
    def cutting_watches(self, pause: float) -> Iterator[None]:
        """Resets one watch after the other inside the context, `pause` seconds apart on average."""
        cutting = asyncio.run_coroutine_threadsafe(
            self._watches.cut_at_random(self._random, pause), self._loop
        )
        try:
            yield
        finally:
            cutting.cancel()

    @contextmanager
    def without_watches(self) -> Iterator[set[str]]:
        """All, whose names it yields, are reset, and none comes through inside the context; after
        it, each is told that the version at which it would go on is too old."""
        with self.fault(Fault("^WATCH ", Reset.BEFORE)):
            names = self._from_outside(self._watches.cut)
            yield names
            self._from_outside(lambda: self._watches.expire(names))

    def fail_watches(self, status: int) -> None:
        """Ends all by an ERROR event of this status."""
        self._from_outside(lambda: self._watches.fail(status))

    def expiring_watches(self) -> set[str]:
        """Names of those that have not come again yet to be told so."""
        return set(self._watches.expiring)

    def writes(self) -> list[str]:
        return [each for each in self.requests if not each.startswith(("GET ", "WATCH "))]

    def _from_outside(self, act: Callable[[], Result]) -> Result:
        """Has the event loop do it."""

        async def run() -> Result:
            return act()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    async def _serve(self, started: Future[str]) -> None:
        """Sets `started` to the proxy's address, or to what kept it from starting."""
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        try:
            runner, url = await self._start()
        except Exception as error:
            started.set_exception(error)
            return
        started.set_result(url)
        await self._closing.wait()
        await runner.cleanup()

    async def _start(self) -> tuple[web.AppRunner, str]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        application.on_cleanup.append(self._close_client)
        # Else a watch would outlive its client until the next event.
        runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=1, handler_cancellation=True
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        # No limit on connections: watches hold theirs.
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._trust, limit=0), auto_decompress=False
        )
        port = runner.addresses[0][1]
        return runner, f"http://127.0.0.1:{port}"

    async def _close_client(self, _: web.Application) -> None:
        await self._client.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        name = _name(request)
        self.requests.append(name)
        for fault in tuple(self._faults):
            if re.search(fault.request, name) and self._random.random() < fault.share:
                await asyncio.sleep(fault.delay)
                if fault.status is Reset.AFTER:
                    async with self._asked(request) as answer:
                        await answer.read()
                if isinstance(fault.status, Reset):
                    hang_up(request)
                    return web.Response()
                if fault.status:
                    return web.json_response(failure(fault.status), status=fault.status)
        if self._watches.is_too_old(name):
            return web.Response(body=error_event(410), content_type="application/json")
        return await self._forward(request, name)

    async def _forward(self, request: web.Request, name: str) -> web.StreamResponse:
        async with self._asked(request) as answer:
            response = web.StreamResponse(
                status=answer.status, headers=dict(_end_to_end(answer.headers))
            )
            # A watcher that ends closes its connection in the midst of an answer.
            with suppress(aiohttp.ClientConnectionResetError):
                await response.prepare(request)
                if name.startswith("WATCH "):
                    await self._watches.stream(name, answer.content, request, response)
                else:
                    await response.write(await answer.read())
                await response.write_eof()
            return response

    @asynccontextmanager
    async def _asked(self, request: web.Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """The API server's answer."""
        async with self._client.request(
            request.method,
            f"{self._server}{request.path_qs}",
            headers=dict(_end_to_end(request.headers)),
            data=await request.read() or None,
            timeout=aiohttp.ClientTimeout(),
        ) as answer:
            yield answer


def _name(request: web.Request) -> str:
    verb = "WATCH" if request.query.get("watch") == "true" else request.method
    return f"{verb} {request.path}"


def _end_to_end(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return (each for each in headers.items() if each[0].lower() not in _HOP_BY_HOP)


def _authority(cluster: dict[str, str]) -> str:
    data = cluster.get("certificate-authority-data")
    if data:
        return base64.b64decode(data).decode()
    return Path(cluster["certificate-authority"]).read_text()
