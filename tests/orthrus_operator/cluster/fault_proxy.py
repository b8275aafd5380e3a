"""A proxy before the API server that counts requests, and makes some slow or fail."""

import asyncio
import base64
import random
import re
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

_HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "content-length", "host"})


@dataclass(frozen=True)
class Fault:
    """What happens to a request whose `METHOD /path` matches."""

    request: str
    status: int | None = None
    """Answered instead of the API server; None: it only waits."""
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
        self.requests: list[str] = []
        """Every request so far, as `METHOD /path`."""
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

    def writes(self) -> list[str]:
        return [each for each in self.requests if not each.startswith("GET ")]

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
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
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
        name = f"{request.method} {request.path}"
        self.requests.append(name)
        for fault in tuple(self._faults):
            if re.search(fault.request, name) and self._random.random() < fault.share:
                await asyncio.sleep(fault.delay)
                if fault.status:
                    return _refusal(fault.status)
        return await self._forward(request)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        async with self._client.request(
            request.method,
            f"{self._server}{request.path_qs}",
            headers=headers,
            data=await request.read() or None,
            timeout=aiohttp.ClientTimeout(),
        ) as answer:
            kept = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in _HOP_BY_HOP
            }
            response = web.StreamResponse(status=answer.status, headers=kept)
            # A watcher that ends closes its connection in the midst of an answer.
            with suppress(aiohttp.ClientConnectionResetError):
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
            return response


def _refusal(status: int) -> web.Response:
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "code": status,
        "message": "injected fault",
    }
    return web.json_response(body, status=status)


def _authority(cluster: dict[str, str]) -> str:
    data = cluster.get("certificate-authority-data")
    if data:
        return base64.b64decode(data).decode()
    return Path(cluster["certificate-authority"]).read_text()
