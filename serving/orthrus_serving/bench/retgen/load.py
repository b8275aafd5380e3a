"""Iterative retrieval-generation as a load: its mix shifts by itself, from second to second."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthrus_serving.bench.client.outcome import Reply
from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.measure.window import By, Window
from orthrus_serving.bench.retgen.findings import EXTRA, Findings, find
from orthrus_serving.bench.retgen.index import PassageIndex
from orthrus_serving.bench.retgen.iter_retgen import IterRetGen
from orthrus_serving.bench.retgen.query import Answered, Query
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

_INDEXING_REQUESTS = 16
"""Open at any time while the collection is embedded."""


class RequestLostError(Exception):
    """A request failed, and what needed its answer with it."""


@dataclass
class RetGenLoad:
    """Embeds a collection, then answers queries about it, `clients` at any time."""

    passages: Sequence[str]
    queries: Sequence[Query]
    clients: int
    iterations: int
    retrieve: int
    answer_tokens: int
    answered: list[Answered] = field(default_factory=list)
    lost: int = 0
    by = By.ENDED
    tasks = frozenset(Task)
    seconds = None
    requests = None
    notes = ()

    @property
    def extra(self) -> Mapping[str, Any]:
        return {EXTRA: self.findings().to_json()}

    def findings(self) -> Findings:
        """Of a load that has run."""
        return find(
            self.answered,
            self.lost,
            passages=len(self.passages),
            retrieved=self.retrieve,
            iterations=self.iterations,
        )

    async def run(self, record: Record, now: Callable[[], float]) -> None:
        """Raises RequestLostError: the collection cannot be embedded."""
        self._indexed = 0.0
        index = PassageIndex(await self._embed_passages(record, now))
        self._indexed = now()
        waiting = iter(self.queries)

        async def embed(text: str) -> Sequence[float]:
            return (await ask(record, Request(Task.EMBEDDING, text), now)).vector

        async def generate(text: str) -> str:
            request = Request(Task.GENERATION, text, self.answer_tokens)
            return (await ask(record, request, now)).text

        loop = IterRetGen(self.passages, index, embed, generate, self.iterations, self.retrieve)

        async def client() -> None:
            for query in waiting:
                started = now()
                try:
                    found = await loop.answer(query.question)
                except RequestLostError:
                    self.lost += 1
                else:
                    self.answered.append(Answered(query, started, now(), found))

        await _all([client() for _ in range(self.clients)])

    def windows(self, last_end: float) -> Sequence[Window]:
        """The queries; before them, the collection was embedded."""
        return [
            Window("queries", self._indexed, last_end * (1 + 1e-12)),
            Window("indexing", 0.0, self._indexed),
        ]

    async def _embed_passages(
        self, record: Record, now: Callable[[], float]
    ) -> Sequence[Sequence[float]]:
        vectors: list[Sequence[float]] = [()] * len(self.passages)
        waiting = iter(enumerate(self.passages))

        async def client() -> None:
            for number, passage in waiting:
                vectors[number] = (await ask(record, Request(Task.EMBEDDING, passage), now)).vector

        await _all([client() for _ in range(_INDEXING_REQUESTS)])
        return vectors


async def ask(record: Record, request: Request, now: Callable[[], float]) -> Reply:
    """The answer to a request that is due now.

    Raises:
        RequestLostError: it failed; the record says how.
    """
    reply = await record.ask(request, now())
    if reply.outcome.error is not None:
        raise RequestLostError(reply.outcome.error)
    return reply


async def _all(clients: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs them to their ends; the first error ends all."""
    try:
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
