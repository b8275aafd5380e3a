"""The outer application: listens from process start, lets requests through to the engine's."""

import asyncio
import logging
from dataclasses import asdict
from functools import partial

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from orthrus_serving.engine.http_request import HttpRequest, current_http_request
from orthrus_serving.server import errors
from orthrus_serving.server.engine_monitor import EngineMonitor
from orthrus_serving.server.exchange import BodyTooLargeError, ClientGoneError, Exchange
from orthrus_serving.server.in_flight import InFlight
from orthrus_serving.server.lifecycle import Lifecycle, Phase
from orthrus_serving.server.request_id import with_request_id
from orthrus_serving.server.request_log import log_refusal, log_request
from orthrus_serving.server.request_metrics import RequestMetrics, Status
from orthrus_serving.server.routes import HEALTH, READY, ROUTES, Route

logger = logging.getLogger(__name__)

NO_ANSWER = "the engine does not answer"


class ReplicaApp:
    """Decides by phase, route and key; forwards what is left to `lifecycle.inner`."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        monitor: EngineMonitor,
        in_flight: InFlight,
        metrics: RequestMetrics,
        max_body_bytes: int,
    ) -> None:
        self._lifecycle = lifecycle
        self._monitor = monitor
        self._in_flight = in_flight
        self._metrics = metrics
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(f"a replica does not speak {scope['type']}")
        scope, request_id = with_request_id(scope)
        exchange = Exchange(request_id, receive, send)
        path, method = scope["path"], scope["method"]
        route = ROUTES.get(path)
        if path in (HEALTH, READY) and method == "GET":
            answer = self._health() if path == HEALTH else self._ready()
            await answer(scope, exchange.receive, exchange.emit)
        elif refusal := self._refusal(path, method, route, Headers(scope=scope)):
            log_refusal(request_id, path, refusal)
            await refusal(scope, exchange.receive, exchange.send)
        elif route is not None and route.is_work:
            await self._work(scope, exchange, route, request_id)
        else:
            await self._lifecycle.inner(scope, exchange.receive, exchange.send)

    def _health(self) -> JSONResponse:
        alive = self._monitor.alive
        body = {"status": "ok" if alive else NO_ANSWER}
        return JSONResponse(body, status_code=200 if alive else 503)

    def _ready(self) -> JSONResponse:
        phase = self._lifecycle.phase
        alive = self._monitor.alive
        loading = self._lifecycle.adapters_to_wait_for()
        ready = phase is Phase.SERVING and alive and not loading
        if not alive:
            reason = NO_ANSWER
        elif phase is Phase.SERVING and loading:
            reason = f"loading adapters: {', '.join(loading)}"
        else:
            reason = phase.value
        models = self._lifecycle.models()
        body = {
            "ready": ready,
            "reason": reason,
            "adapters": [asdict(adapter) for adapter in models.adapters],
            "embeddingSpaces": models.embedding_spaces,
        }
        return JSONResponse(body, status_code=200 if ready else 503)

    def _refusal(
        self, path: str, method: str, route: Route | None, headers: Headers
    ) -> errors.ErrorReply | None:
        phase = self._lifecycle.phase
        if phase is Phase.LOADING:
            return errors.unavailable(phase.value, errors.LOADING_RETRY_SECONDS)
        if route is None or (route.is_admin and self._lifecycle.admin_keys.none_set):
            return errors.not_found(path)
        if method != route.method:
            return errors.method_not_allowed(path, route.method)
        return self._refusal_of_work(route, headers) if route.is_work else None

    def _refusal_of_work(self, route: Route, headers: Headers) -> errors.ErrorReply | None:
        phase = self._lifecycle.phase
        keys = self._lifecycle.admin_keys if route.is_admin else self._lifecycle.keys
        if not keys.accept(headers.get("authorization")):
            return errors.unauthorized()
        if phase is Phase.DRAINING:
            self._metrics.rejected("draining")
            return errors.unavailable(phase.value, errors.DRAINING_RETRY_SECONDS, close=True)
        # vLLM takes a priority from this header too, before it looks at the body.
        if headers.get("x-vllm-priority", "0").strip() != "0":
            return errors.bad_request(
                "X-Vllm-Priority must be 0: this server has no priority classes."
            )
        return None

    async def _work(self, scope: Scope, exchange: Exchange, route: Route, request_id: str) -> None:
        """Forwards one request, counts it, and gives back all that was held for it."""
        request = HttpRequest(request_id)
        if route.task is not None:
            request.on_first_output = partial(self._first_output, request, route.task)
        current_http_request.set(request)
        try:
            with self._in_flight.track():
                await self._forward(scope, exchange)
        finally:
            request.close()
            status = _status(exchange, request)
            log_request(request, scope["path"], status, exchange.status)
            if request.queue_was_full:
                self._metrics.rejected("queue_full")
            elif route.task is not None:
                self._metrics.answered(route.task, request.model, status, request.seconds)
                self._metrics.broken_vectors(request.broken_vectors)

    async def _forward(self, scope: Scope, exchange: Exchange) -> None:
        """Answers 413 for a body above the limit, and 503 when a drain abandons the request."""
        try:
            await exchange.read_body(scope, self._max_body_bytes)
            await self._lifecycle.inner(scope, exchange.receive, exchange.send)
        except BodyTooLargeError:
            await exchange.refuse_body(scope, errors.body_too_large(self._max_body_bytes))
        except ClientGoneError:
            return
        except Exception:
            logger.exception("request %s failed", exchange.request_id)
            if exchange.status is None:
                await errors.failed()(scope, exchange.receive, exchange.send)
            elif not exchange.complete:
                raise  # uvicorn cuts the connection, so the client sees that the answer is cut
        except asyncio.CancelledError:
            if not self._in_flight.abandoned:
                exchange.client_left = True
                raise
            if exchange.status is not None:
                return  # uvicorn cuts the connection, so the client sees that the answer is cut
            reply = errors.unavailable(
                "the drain timeout has passed", errors.DRAINING_RETRY_SECONDS, close=True
            )
            await reply(scope, exchange.receive, exchange.send)

    def _first_output(self, request: HttpRequest, task: str, seconds: float) -> None:
        self._metrics.first_output(task, request.model, seconds)


def _status(exchange: Exchange, request: HttpRequest) -> Status:
    if exchange.client_left:
        return "aborted"
    if not exchange.complete or request.engine_failed:  # an answer that was cut is none
        return "server_error"
    if exchange.status is None or exchange.status >= 500:
        return "server_error"
    return "client_error" if exchange.status >= 400 else "ok"
