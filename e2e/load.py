"""Clients that keep a given number of requests under way, and what became of each."""

import asyncio
import itertools
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import httpx
from openai import AsyncOpenAI, OpenAIError

Ask = Callable[[AsyncOpenAI, str], Coroutine[Any, Any, object]]

_WORDS = ("river", "stone", "garden", "copper", "window", "history", "market", "signal")
TOKENS_IN_PROMPT = 200
_SECONDS = 600.0
_TURN_SECONDS = 0.05
_numbers = itertools.count()


def prompt() -> str:
    """About 200 tokens, no two prompts with the same beginning: no cache of prefixes helps."""
    return " ".join((str(next(_numbers)), *random.choices(_WORDS, k=TOKENS_IN_PROMPT)))  # noqa: S311


async def embed(client: AsyncOpenAI, model: str) -> None:
    await client.embeddings.create(model=model, input=prompt())


async def generate(client: AsyncOpenAI, model: str) -> None:
    """A short answer to a long prompt: it is prompts that make a backlog."""
    await client.completions.create(model=model, prompt=prompt(), max_tokens=2)


async def stream(client: AsyncOpenAI, model: str) -> None:
    """A long answer, which is whole when it says why it ends.

    Raises:
        httpx.RemoteProtocolError: it ends without.
    """
    events = await client.completions.create(
        model=model, prompt=prompt(), max_tokens=48, stream=True
    )
    reasons = [choice.finish_reason async for event in events for choice in event.choices]
    if not any(reasons):
        raise httpx.RemoteProtocolError("a stream ended in the middle")


ASK: dict[str, Ask] = {"embedding": embed, "generation": generate, "stream": stream}


@dataclass(frozen=True)
class Demand:
    """How many requests of each kind are to be under way at any moment.

    When one demand follows another, the number of all together is kept: a request of the new kind
    takes the place of each old one that is answered.
    """

    embeddings: int = 0
    generations: int = 0
    streams: int = 0

    @property
    def of_kind(self) -> dict[str, int]:
        """The same, by the names in `ASK`."""
        return {
            "embedding": self.embeddings,
            "generation": self.generations,
            "stream": self.streams,
        }


@dataclass(frozen=True)
class Failure:
    """A request that got no whole answer."""

    id: str
    """Its X-Request-Id."""
    kind: str
    reason: str
    at: float
    """time.monotonic() of its end."""


class Load:
    """The official client with its pool of connections, retries off, in a thread of its own.

    A closed loop: a request that is answered is followed by the next, so that what waits in the
    replicas depends on the demand alone, however many replicas there are.
    """

    def __init__(self, base_url: str, model: str) -> None:
        self._base_url = base_url
        self._model = model
        self._demand = Demand()
        self._stopping = False
        self._running: dict[str, set[asyncio.Task[None]]] = {kind: set() for kind in ASK}
        self.answered: Counter[str] = Counter()
        """Requests that were answered, by kind."""
        self.failures: list[Failure] = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._thread.join()

    @property
    def demand(self) -> Demand:
        return self._demand

    def set(self, demand: Demand) -> None:
        """From now on; requests that are under way are not given up."""
        self._demand = demand

    async def _run(self) -> None:
        async with AsyncOpenAI(
            base_url=f"{self._base_url}/v1", api_key="none", max_retries=0, timeout=_SECONDS
        ) as client:
            while not self._stopping or any(self._running.values()):
                for kind, tasks in self._running.items():
                    self._running[kind] = {task for task in tasks if not task.done()}
                wanted = (Demand() if self._stopping else self._demand).of_kind
                room = sum(wanted.values()) - sum(map(len, self._running.values()))
                for kind, tasks in self._running.items():
                    missing = max(0, min(room, wanted[kind] - len(tasks)))
                    room -= missing
                    tasks.update(
                        asyncio.create_task(self._send(client, kind)) for _ in range(missing)
                    )
                await asyncio.sleep(_TURN_SECONDS)

    async def _send(self, client: AsyncOpenAI, kind: str) -> None:
        identity = uuid.uuid4().hex
        named = client.with_options(default_headers={"X-Request-Id": identity})
        try:
            await ASK[kind](named, self._model)
        except (OpenAIError, httpx.HTTPError) as error:
            reason = f"{type(error).__name__}: {error}"
            self.failures.append(Failure(identity, kind, reason, time.monotonic()))
        else:
            self.answered[kind] += 1
