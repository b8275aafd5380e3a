"""A steady mix of embeddings, completions and streams against one address; no request is retried.

Clients keep their connections, as pooled clients do: those that a Service leads to a replica that
ends have to be told to go elsewhere.
"""

import asyncio
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

OK = "200"
CUT = "cut"
"""A stream that ended before its last event."""
_PAUSE_SECONDS = 0.1
_TIMEOUT_SECONDS = 120.0
_STREAM = {"messages": [{"role": "user", "content": "Count to ten."}], "stream": True}
_KINDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("embedding", "/v1/embeddings", {"input": ["a cat sat on a mat " * 8, "a dog"]}),
    ("embedding", "/v1/embeddings", {"input": "a river runs through it"}),
    ("completion", "/v1/completions", {"prompt": "The capital of France is", "max_tokens": 8}),
    ("stream", "/v1/chat/completions", {**_STREAM, "max_tokens": 24}),
    ("stream", "/v1/chat/completions", {**_STREAM, "max_tokens": 48}),
)
"""One client each, which sends the same request again and again."""


@dataclass(frozen=True)
class Failure:
    """A request that got no whole answer with status 200."""

    id: str
    """Its X-Request-Id."""
    kind: str
    outcome: str
    """The status, `CUT`, or the class of the connection's error."""
    at: float
    """time.monotonic() of its end."""


@dataclass
class SteadyLoad:
    """What became of the requests so far."""

    answered: int = 0
    failures: list[Failure] = field(default_factory=list)


@contextmanager
def steady_load(url: str, model: str) -> Iterator[SteadyLoad]:
    """Sends requests to `url` (without /v1) for `model` inside the context, from another thread.

    At its end the requests that run are awaited, and counted.
    """
    load, ending = SteadyLoad(), threading.Event()

    async def every_client() -> None:
        await asyncio.gather(*(_client(url, model, kind, load, ending) for kind in _KINDS))

    thread = threading.Thread(target=lambda: asyncio.run(every_client()))
    thread.start()
    try:
        yield load
    finally:
        ending.set()
        thread.join()


async def _client(
    url: str,
    model: str,
    kind: tuple[str, str, dict[str, Any]],
    load: SteadyLoad,
    ending: threading.Event,
) -> None:
    name, path, body = kind
    async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_SECONDS) as http:
        while not ending.is_set():
            identity = uuid.uuid4().hex
            outcome = await _outcome(http, path, {"model": model, **body}, identity)
            if outcome == OK:
                load.answered += 1
            else:
                load.failures.append(Failure(identity, name, outcome, time.monotonic()))
            await asyncio.sleep(_PAUSE_SECONDS)


async def _outcome(http: httpx.AsyncClient, path: str, body: dict[str, Any], identity: str) -> str:
    try:
        answer = await http.post(path, json=body, headers={"X-Request-Id": identity})
    except httpx.TransportError as error:
        return type(error).__name__
    whole = not body.get("stream") or answer.text.rstrip().endswith("data: [DONE]")
    return CUT if answer.is_success and not whole else str(answer.status_code)
