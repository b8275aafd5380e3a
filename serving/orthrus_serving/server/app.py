"""The outer application: listens from process start, lets requests through to the engine's."""

import asyncio

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from orthrus_serving.server import errors
from orthrus_serving.server.engine_monitor import EngineMonitor
from orthrus_serving.server.in_flight import InFlight
from orthrus_serving.server.lifecycle import Lifecycle, Phase
from orthrus_serving.server.routes import HEALTH, READY, ROUTES, Route

NO_ANSWER = "the engine does not answer"


class ReplicaApp:
    """Decides by phase, route and key; forwards what is left to `lifecycle.inner`."""

    def __init__(self, lifecycle: Lifecycle, monitor: EngineMonitor, in_flight: InFlight) -> None:
        self._lifecycle = lifecycle
        self._monitor = monitor
        self._in_flight = in_flight

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(f"a replica does not speak {scope['type']}")
        path, method = scope["path"], scope["method"]
        route = ROUTES.get(path)
        if path in (HEALTH, READY) and method == "GET":
            answer = self._health() if path == HEALTH else self._ready()
            await answer(scope, receive, send)
        elif refusal := self._refusal(path, method, route, Headers(scope=scope)):
            await refusal(scope, receive, send)
        elif route is not None and route.is_work:
            await self._work(scope, receive, send)
        else:
            await self._lifecycle.inner(scope, receive, send)

    def _health(self) -> JSONResponse:
        alive = self._monitor.alive
        body = {"status": "ok" if alive else NO_ANSWER}
        return JSONResponse(body, status_code=200 if alive else 503)

    def _ready(self) -> JSONResponse:
        phase = self._lifecycle.phase
        alive = self._monitor.alive
        ready = phase is Phase.SERVING and alive
        body = {"ready": ready, "reason": phase.value if alive else NO_ANSWER}
        return JSONResponse(body, status_code=200 if ready else 503)

    def _refusal(
        self, path: str, method: str, route: Route | None, headers: Headers
    ) -> errors.ErrorReply | None:
        phase = self._lifecycle.phase
        if phase is Phase.LOADING:
            return errors.unavailable(phase.value, errors.LOADING_RETRY_SECONDS)
        if route is None:
            return errors.not_found(path)
        if method != route.method:
            return errors.method_not_allowed(path, route.method)
        return self._refusal_of_work(headers) if route.is_work else None

    def _refusal_of_work(self, headers: Headers) -> errors.ErrorReply | None:
        phase = self._lifecycle.phase
        if not self._lifecycle.keys.accept(headers.get("authorization")):
            return errors.unauthorized()
        if phase is Phase.DRAINING:
            return errors.unavailable(phase.value, errors.DRAINING_RETRY_SECONDS, close=True)
        return None

    async def _work(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards one request and counts it; answers 503 for it when a drain abandons it."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            with self._in_flight.track():
                await self._lifecycle.inner(scope, receive, watched)
        except asyncio.CancelledError:
            if not self._in_flight.abandoned:
                raise
            if started:  # uvicorn cuts the connection, so the client sees that the answer is cut
                return
            reply = errors.unavailable(
                "the drain timeout has passed", errors.DRAINING_RETRY_SECONDS, close=True
            )
            await reply(scope, receive, send)
