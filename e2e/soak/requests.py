"""What clients of the soak send: good requests, bad ones, and those that they give up on."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx

Json = dict[str, Any]
COMING_AND_GOING = "embedding, adapter that comes and goes"
ABANDONED = "abandoned"
STUCK = "stuck"
STUCK_SECONDS = 180.0
_LONGEST_PATIENCE_SECONDS = 0.5

_WORDS = ("river", "stone", "garden", "copper", "window", "history", "market", "signal")


@dataclass(frozen=True)
class Models:
    """What the replica serves."""

    backbone: str
    embedding_adapters: tuple[str, ...]
    generation_adapters: tuple[str, ...]
    coming_and_going: str
    """An embedding adapter that is loaded and unloaded all the while."""


class Client:
    """One client: a request after the other, each drawn at random."""

    def __init__(
        self, http: httpx.AsyncClient, models: Models, model_length: int, seed: int
    ) -> None:
        self._http = http
        self._models = models
        self._length = model_length
        self._draw = random.Random(seed)  # noqa: S311
        self._kinds: dict[str, tuple[int, Callable[[], Awaitable[str]]]] = {
            "embedding": (8, self._embedding),
            "adapter embedding": (2, self._adapter_embedding),
            "adapter completion": (2, self._adapter_completion),
            COMING_AND_GOING: (1, lambda: self._embed(self._models.coming_and_going)),
            "chat, streamed": (4, self._stream),
            "completion": (4, self._completion),
            "abandoned embedding": (2, lambda: self._give_up(self._embedding)),
            "abandoned stream": (2, lambda: self._give_up(self._stream)),
            "bad request": (2, self._bad),
        }

    async def send_one(self) -> tuple[str, str]:
        """Kind of the request, and the status that it got, or `ABANDONED` or `STUCK`."""
        weights = [weight for weight, _ in self._kinds.values()]
        [kind] = self._draw.choices(list(self._kinds), weights)
        try:
            async with asyncio.timeout(STUCK_SECONDS):
                return kind, await self._kinds[kind][1]()
        except TimeoutError:
            return kind, STUCK
        except httpx.TransportError as error:
            return kind, type(error).__name__

    async def _embedding(self) -> str:
        return await self._embed(self._models.backbone)

    async def _adapter_embedding(self) -> str:
        return await self._embed(self._draw.choice(self._models.embedding_adapters))

    async def _embed(self, model: str) -> str:
        count = self._draw.choice([1, 1, 1, 4, 16])
        texts = [self._text(self._draw.randint(1, self._length // 3)) for _ in range(count)]
        return await self._post("/v1/embeddings", {"model": model, "input": texts})

    async def _completion(self) -> str:
        return await self._complete(self._models.backbone)

    async def _adapter_completion(self) -> str:
        return await self._complete(self._draw.choice(self._models.generation_adapters))

    async def _complete(self, model: str) -> str:
        count = self._draw.choice([1, 1, 2])
        prompt = self._text(self._draw.randint(1, 40))
        body = {"model": model, "prompt": prompt, "max_tokens": 24, "n": count}
        return await self._post("/v1/completions", body)

    async def _stream(self) -> str:
        messages = [{"role": "user", "content": self._text(self._draw.randint(1, 40))}]
        body = {
            "model": self._models.backbone,
            "messages": messages,
            "stream": True,
            "max_tokens": 48,
        }
        async with self._http.stream("POST", "/v1/chat/completions", json=body) as answer:
            async for _ in answer.aiter_lines():
                pass
        return str(answer.status_code)

    async def _give_up(self, request: Callable[[], Awaitable[str]]) -> str:
        try:
            async with asyncio.timeout(self._draw.uniform(0, _LONGEST_PATIENCE_SECONDS)):
                return await request()
        except TimeoutError:
            return ABANDONED

    async def _bad(self) -> str:
        bad: list[tuple[str, Json]] = [
            ("/v1/embeddings", {"input": []}),
            ("/v1/embeddings", {"input": [[1, 2], ["a"]]}),
            ("/v1/embeddings", {"input": "x", "encoding_format": "md5"}),
            ("/v1/embeddings", {"input": self._text(3 * self._length)}),
            ("/v1/completions", {"prompt": "x", "max_tokens": -1}),
            ("/v1/completions", {"prompt": "x", "model": "nobody"}),
            ("/v1/chat/completions", {"messages": "not a list"}),
            ("/v1/rerank", {"query": "x", "documents": ["y"]}),
        ]
        path, body = self._draw.choice(bad)
        return await self._post(path, body)

    async def _post(self, path: str, body: Json) -> str:
        answer = await self._http.post(path, json={"model": self._models.backbone} | body)
        return str(answer.status_code)

    def _text(self, words: int) -> str:
        return " ".join(self._draw.choices(_WORDS, k=words))


def is_failure(kind: str, outcome: str) -> bool:
    """Whether an answer is one that a healthy replica never gives to that kind of request."""
    if outcome == ABANDONED:
        return not kind.startswith("abandoned")
    if not outcome.isdecimal():
        return True
    status = int(outcome)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return False
    if kind == COMING_AND_GOING and status == HTTPStatus.NOT_FOUND:
        return False
    if kind == "bad request":
        return not HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return status != HTTPStatus.OK
