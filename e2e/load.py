"""Clients that keep a given number of requests under way, and what became of each."""

import asyncio
import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI, OpenAIError

Ask = Callable[[AsyncOpenAI, str], Coroutine[Any, Any, object]]

_WORDS = ("river", "stone", "garden", "copper", "window", "history", "market", "signal")
TOKENS_IN_PROMPT = 200
_SECONDS = 600.0
_numbers = itertools.count()


def prompt() -> str:
    """About 200 tokens, no two prompts with the same beginning: no cache of prefixes helps."""
    return " ".join((str(next(_numbers)), *random.choices(_WORDS, k=TOKENS_IN_PROMPT)))  # noqa: S311


async def embed(client: AsyncOpenAI, model: str) -> object:
    return await client.embeddings.create(model=model, input=prompt())


async def generate(client: AsyncOpenAI, model: str) -> object:
    """A short answer to a long prompt: it is prompts that make a backlog."""
    return await client.completions.create(model=model, prompt=prompt(), max_tokens=2)


@dataclass(frozen=True)
class Demand:
    """How many requests of each type are to be under way at any moment.

    When one demand follows another, the number of both together is kept: a request of the new kind
    takes the place of each old one that is answered.
    """

    embeddings: int = 0
    generations: int = 0

    @property
    def total(self) -> int:
        return self.embeddings + self.generations


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
        self.answered: Counter[str] = Counter()
        """Requests that were answered, by type."""
        self.failures: list[str] = []
        """One sentence for each request that was not."""
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
            embeddings: set[asyncio.Task[None]] = set()
            generations: set[asyncio.Task[None]] = set()
            while not self._stopping or embeddings or generations:
                wanted = Demand() if self._stopping else self._demand
                embeddings = {task for task in embeddings if not task.done()}
                generations = {task for task in generations if not task.done()}
                for _ in range(wanted.total - len(embeddings) - len(generations)):
                    if len(embeddings) < wanted.embeddings:
                        send = self._send(client, "embedding", embed)
                        embeddings.add(asyncio.create_task(send))
                    else:
                        send = self._send(client, "generation", generate)
                        generations.add(asyncio.create_task(send))
                await asyncio.sleep(0.05)

    async def _send(self, client: AsyncOpenAI, kind: str, ask: Ask) -> None:
        try:
            await ask(client, self._model)
        except OpenAIError as error:
            self.failures.append(f"{kind}: {type(error).__name__}: {error}")
        else:
            self.answered[kind] += 1
