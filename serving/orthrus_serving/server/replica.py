"""The life of one replica: listen, load, serve, drain, exit."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NoReturn, Protocol

from prometheus_client import REGISTRY
from prometheus_client.registry import Collector
from starlette.types import ASGIApp

from orthrus_serving.engine.models_report import ModelsReport
from orthrus_serving.server.announcement import ANNOUNCEMENT
from orthrus_serving.server.api_key import ApiKeys, Keys
from orthrus_serving.server.app import ReplicaApp
from orthrus_serving.server.collector import SnapshotCollector
from orthrus_serving.server.engine_monitor import Engine, EngineMonitor, wait_for_death
from orthrus_serving.server.gpu import Gpu
from orthrus_serving.server.in_flight import InFlight
from orthrus_serving.server.lifecycle import Lifecycle
from orthrus_serving.server.listener import Listener, ListenOptions
from orthrus_serving.server.request_metrics import RequestMetrics
from orthrus_serving.server.start_thread import kill_engine_processes, run_in_thread

logger = logging.getLogger(__name__)

EXIT_STOPPED = 0
EXIT_FAILED = 1
DEATH_ANSWER_SECONDS = 2.0
"""Time for the requests of a dead engine to be answered with their error."""


class StartedEngine(Engine, Protocol):
    """An engine that has loaded its model."""

    api_keys: list[str]
    model_names: list[str]
    admin_keys: list[str]

    def models(self) -> ModelsReport: ...

    def application(self, listener: Listener) -> AbstractAsyncContextManager[ASGIApp]: ...

    def shutdown(self) -> None: ...


class Replica:
    """One process: the listener in the event loop, the engine's start in a thread."""

    def __init__(
        self, options: ListenOptions, listening: socket.socket, keys: Keys | None = None
    ) -> None:
        """`keys` decide in place of those that the engine was started with."""
        self._options = options
        self._keys = keys
        self._socket = listening
        self._lifecycle = Lifecycle()
        self._monitor = EngineMonitor()
        self._in_flight = InFlight()
        self._metrics = RequestMetrics()
        self._app = ReplicaApp(
            self._lifecycle, self._monitor, self._in_flight, self._metrics, options.max_body_bytes
        )
        self._stop = asyncio.Event()
        self._stop_now = asyncio.Event()

    async def run(self, start_engine: Callable[[], StartedEngine]) -> int:
        """Runs until stopped or dead; returns the exit code. Raises what `start_engine` raises."""
        listener = Listener(self._app, self._options)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ask_to_stop)
        loop.add_signal_handler(ANNOUNCEMENT, self._announce_drain, listener)
        listening = asyncio.create_task(listener.serve(sockets=[self._socket]))
        try:
            engine = await self._load(start_engine)
            try:
                return await self._serve(engine, listener, listening)
            finally:
                engine.shutdown()
        finally:
            listener.should_exit = True
            await listening

    def _ask_to_stop(self) -> None:
        """The first time running requests may finish; the second time they may not."""
        (self._stop_now if self._stop.is_set() else self._stop).set()

    def _announce_drain(self, listener: Listener) -> None:
        """Goes on serving, but sends clients and load balancers elsewhere (`orthrus drain`)."""
        logger.info("about to be stopped: not ready any more, closing connections after answers")
        self._lifecycle.begin_leaving()
        listener.close_connections_after_answers()

    async def _load(self, start_engine: Callable[[], StartedEngine]) -> StartedEngine:
        loading = run_in_thread(start_engine)
        await _first_of(loading, self._stop.wait())
        if self._stop.is_set():
            _exit_while_loading()
        return await loading

    async def _serve(
        self, engine: StartedEngine, listener: Listener, listening: asyncio.Task[None]
    ) -> int:
        async with (
            engine.application(listener) as inner,
            _on_metrics_page(
                SnapshotCollector(self._monitor, Gpu.of_process(), self._lifecycle), self._metrics
            ),
            asyncio.TaskGroup() as tasks,
        ):
            watch = tasks.create_task(self._monitor.watch(engine))
            self._metrics.expect_models(engine.model_names)
            self._lifecycle.begin_serving(
                inner,
                self._keys or ApiKeys(engine.api_keys),
                ApiKeys(engine.admin_keys),
                engine.models,
            )
            logger.info("ready")
            death = tasks.create_task(wait_for_death(engine))
            await _first_of(death, listening, self._stop.wait())
            if self._stop.is_set():
                await self._drain(listener, death)
            if engine.died:
                logger.error("the engine process died")
                await self._in_flight.wait_empty(DEATH_ANSWER_SECONDS)
            listener.should_exit = True
            await listening
            watch.cancel()
            death.cancel()
            # vLLM's handlers stop the listener too, when they meet a dead engine.
            return EXIT_STOPPED if self._stop.is_set() and not engine.died else EXIT_FAILED

    async def _drain(self, listener: Listener, death: asyncio.Task[None]) -> None:
        """Refuses new requests and waits for the running ones, then abandons what is left."""
        self._lifecycle.begin_draining()
        listener.close_connections_after_answers()
        seconds = self._options.drain_seconds
        logger.info("draining %d requests, at most %.0f s", len(self._in_flight), seconds)
        await _first_of(death, self._in_flight.wait_empty(seconds), self._stop_now.wait())
        # A dead engine's requests are about to be answered with their own error.
        if len(self._in_flight) and not death.done():
            logger.warning("abandoning %d requests", len(self._in_flight))
            self._in_flight.abandon()


@asynccontextmanager
async def _on_metrics_page(*collectors: Collector) -> AsyncIterator[None]:
    for collector in collectors:
        REGISTRY.register(collector)
    try:
        yield
    finally:
        for collector in collectors:
            REGISTRY.unregister(collector)


def _exit_while_loading() -> NoReturn:
    """Ends at once: nothing was served, and the loading thread cannot be interrupted."""
    kill_engine_processes()
    os._exit(EXIT_STOPPED)


async def _first_of(*awaitables: "asyncio.Future[Any] | Coroutine[Any, Any, object]") -> None:
    """Returns when one is done; coroutines are cancelled then, futures live on."""
    futures = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    for future, awaitable in zip(futures, awaitables, strict=True):
        if future is not awaitable:
            future.cancel()
