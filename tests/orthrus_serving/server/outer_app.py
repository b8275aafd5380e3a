"""The real outer application around an inner one that answers what a test tells it to."""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from orthrus_serving.engine.http_request import HttpRequest, current_http_request
from orthrus_serving.scheduling.snapshot import Snapshot
from orthrus_serving.server.api_key import ApiKeys, Keys
from orthrus_serving.server.app import ReplicaApp
from orthrus_serving.server.engine_monitor import EngineMonitor
from orthrus_serving.server.in_flight import InFlight
from orthrus_serving.server.lifecycle import Lifecycle
from orthrus_serving.server.request_metrics import RequestMetrics
from tests.clock import Clock

MAX_BODY_BYTES = 100_000


class InnerApp:
    """Answers with the path, once `may_answer` is set; notes the last request."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.status = 200
        self.answer: bytes | None = None
        """In place of the path."""
        self.headers = Headers()
        self.body = b""
        self.request: HttpRequest | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers = Headers(scope=scope)
        self.request = current_http_request.get()
        self.body = await Request(scope, receive).body()
        await self.may_answer.wait()
        answer = scope["path"] if self.answer is None else self.answer
        await PlainTextResponse(answer, self.status)(scope, receive, send)


class FakeEngine:
    """An engine that answers, hangs or is gone."""

    def __init__(self) -> None:
        self.died = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.questions = 0
        self.next = Snapshot()

    async def snapshot(self) -> Snapshot:
        self.questions += 1
        await self.answers.wait()
        if self.died:
            raise RuntimeError("gone")
        return self.next


class OuterApp:
    """The parts of a replica that need no engine process."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.lifecycle = Lifecycle()
        self.monitor = EngineMonitor(self.clock)
        self.in_flight = InFlight()
        self.inner = InnerApp()
        self.metrics = RequestMetrics()
        self.app = ReplicaApp(
            self.lifecycle, self.monitor, self.in_flight, self.metrics, MAX_BODY_BYTES
        )

    def serve(self, *keys: str, admin: str = "") -> None:
        self.serve_with(ApiKeys(keys), admin)

    def serve_with(self, keys: Keys, admin: str = "") -> None:
        self.lifecycle.begin_serving(self.inner, keys, ApiKeys([admin]))


async def until(condition: Callable[[], bool]) -> None:
    """Lets the event loop turn until `condition` holds; TimeoutError after 5 s."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 (any condition, of any part)
            await asyncio.sleep(0)
