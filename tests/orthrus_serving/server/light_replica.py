"""A real replica, listener and signals included, around an engine that loads no model."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.types import ASGIApp

from orthrus_serving.engine.models_report import ModelsReport
from orthrus_serving.server.listener import Listener, ListenOptions, bind
from orthrus_serving.server.replica import Replica
from tests.orthrus_serving.server.outer_app import FakeEngine, InnerApp, until

EMBEDDINGS = "/v1/embeddings"


class LightEngine(FakeEngine):
    """Serves what `InnerApp` answers."""

    def __init__(self) -> None:
        super().__init__()
        self.api_keys: list[str] = []
        self.admin_keys: list[str] = []
        self.model_names = ["light"]
        self.inner = InnerApp()

    def models(self) -> ModelsReport:
        return ModelsReport()

    @asynccontextmanager
    async def application(self, listener: Listener) -> AsyncIterator[ASGIApp]:
        yield self.inner

    def shutdown(self) -> None:
        pass


class LightReplica:
    def __init__(self, engine: LightEngine, running: "asyncio.Task[int]", address: str) -> None:
        self.engine = engine
        self.running = running
        self.address = address
        """host:port"""

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def signal(self, number: signal.Signals) -> None:
        os.kill(os.getpid(), number)

    async def exit_code(self) -> int:
        async with asyncio.timeout(10):
            return await self.running

    async def wait_status(self, path: str, status: int) -> None:
        async with asyncio.timeout(10), httpx.AsyncClient(base_url=self.url) as client:
            while (await client.get(path)).status_code != status:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def busy(self, client: httpx.AsyncClient) -> "asyncio.Task[httpx.Response]":
        """A request that is being answered until `engine.inner.may_answer` is set."""
        self.engine.inner.may_answer.clear()
        self.engine.inner.request = None
        task = asyncio.create_task(client.post(EMBEDDINGS))
        await until(lambda: self.engine.inner.request is not None)
        return task


@asynccontextmanager
async def light_replica(*flags: str) -> AsyncIterator[LightReplica]:
    options = ListenOptions.from_arguments(["--host", "127.0.0.1", "--port", "0", *flags])
    listening = bind(options)
    host, port = listening.getsockname()
    engine = LightEngine()
    running = asyncio.create_task(Replica(options, listening).run(lambda: engine))
    replica = LightReplica(engine, running, f"{host}:{port}")
    try:
        await replica.wait_status("/ready", 200)
        yield replica
    finally:
        if not running.done():
            replica.signal(signal.SIGTERM)
            replica.signal(signal.SIGTERM)
            await replica.exit_code()
