"""An OpenAI-like server with known delays, known failures, and a count of what it has open."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MODEL = "known"
VECTOR = [0.25, 0.5]


@dataclass
class KnownServer:
    """Answers after `wait` seconds; a stream sends its messages `gap` seconds apart."""

    wait: float = 0.0
    gap: float = 0.0
    at_once: int | None = None
    """How many requests are worked on at one time; None for all."""
    failure: str | None = None
    """What goes wrong: `status`, `cut`, `error message`, `malformed`."""
    fine: int = 0
    """How many requests are answered well and at once before `wait` and `failure` begin."""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.at_once or 1_000_000)

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_post("/v1/completions", self._completions)
        app.router.add_post("/v1/chat/completions", self._completions)
        return app

    async def _models(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": MODEL}]})

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await self._begin(request)
        fine = self._is_fine()
        try:
            async with self._slots:
                await asyncio.sleep(0 if fine else self.wait)
        finally:
            self.open -= 1
        if self.failure == "status" and not fine:
            return web.json_response({"error": {"message": "busy"}}, status=429)
        if self.failure == "malformed":
            return web.Response(text="not JSON")
        given = body["input"]
        usage = {"prompt_tokens": len(given.split() if isinstance(given, str) else given)}
        return web.json_response({"data": [{"embedding": VECTOR}], "usage": usage})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await self._begin(request)
        if self.failure == "status" and not self._is_fine():
            self.open -= 1
            return web.json_response({"error": {"message": "busy"}}, status=503)
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        try:
            async with self._slots:
                await self._stream(answer, body)
        finally:
            self.open -= 1
        return answer

    async def _stream(self, answer: web.StreamResponse, body: dict[str, Any]) -> None:
        chat = "messages" in body
        tokens = body["max_completion_tokens" if chat else "max_tokens"]
        if chat:  # as vLLM does: the role comes first, without a token
            await _send(answer, {"choices": [{"delta": {"role": "assistant", "content": ""}}]})
        await asyncio.sleep(self.wait)
        for number in range(tokens):
            if number:
                await asyncio.sleep(self.gap)
            text = {"delta": {"content": f"t{number} "}} if chat else {"text": f"t{number} "}
            await _send(answer, {"choices": [text]})
            if self.failure == "error message":
                await _send(answer, {"error": {"message": "the engine died"}})
            if self.failure == "cut":
                return
        await _send(
            answer, {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": tokens}}
        )
        await answer.write(b"data: [DONE]\n\n")

    def _is_fine(self) -> bool:
        return len(self.requests) <= self.fine

    async def _begin(self, request: web.Request) -> dict[str, Any]:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        body: dict[str, Any] = await request.json()
        self.requests.append((request.path, body))
        self.headers.append(dict(request.headers))
        return body


async def _send(answer: web.StreamResponse, message: dict[str, Any]) -> None:
    await answer.write(f"data: {json.dumps(message)}\n\n".encode())


@asynccontextmanager
async def known_server(**behaviour: Any) -> AsyncIterator[KnownServer]:
    """A real server on a free local port."""
    server = KnownServer(**behaviour)
    runner = web.AppRunner(server.application(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
