"""Asking replicas: many at once, but no more than a few, for so long and for so much only.

Their image may be a tenant's own: whatever one answers takes no time from the others.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import aiohttp

_AT_ONCE = 32
_CHUNK_BYTES = 2**15
_TIMEOUT = aiohttp.ClientTimeout(total=3)
_MOST_READ_BYTES = 4 * 2**20
"""Metrics of vLLM grow with each set of adapters that has run together."""
_NOT_OF_THE_FORM = (ValueError, TypeError, LookupError, RecursionError)
"""What a reader raises; the last one for JSON that is nothing but brackets."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Question:
    """What replicas are asked for."""

    path: str
    most_bytes: int
    """Of an answer that is believed: how long it may take to make sense of one is bounded by it."""
    beginnings: tuple[bytes, ...] = (b"",)
    """Of the lines that matter; the others are dropped as they come, and don't count."""


async def replica_answers(
    addresses: Mapping[str, str],
    question: Question,
    read: Callable[[int, bytes], Answer],
    within: float,
) -> dict[str, Answer]:
    """What `read` makes of status and body of each answer, by the keys of `addresses`
    (`http://HOST:PORT`).

    Left out is who doesn't answer, in `within` seconds for all of them, or with too much, or with
    something that is not of the form that `read` expects; never raises.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, Answer] = {}

    async def ask(key: str, address: str) -> None:
        try:
            url = f"{address}{question.path}"
            async with gate, client.get(url, allow_redirects=False) as answer:
                found[key] = read(answer.status, await _body(answer, question))
        except (aiohttp.ClientError, TimeoutError, *_NOT_OF_THE_FORM):
            return

    async with aiohttp.ClientSession(
        timeout=_TIMEOUT,
        # A few compressed bytes can be any number of others.
        auto_decompress=False,
        headers={"accept-encoding": "identity"},
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as client:
        tasks = [asyncio.create_task(ask(key, address)) for key, address in addresses.items()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=within)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
    return found


async def _body(answer: aiohttp.ClientResponse, question: Question) -> bytes:
    """The lines that matter. Raises ValueError when they, or all, are more than any replica's, or
    not plain."""
    if "content-encoding" in answer.headers:
        raise ValueError("compressed, though nobody asked for that")
    body, unfinished, read = bytearray(), b"", 0
    async for chunk in answer.content.iter_chunked(_CHUNK_BYTES):
        read += len(chunk)
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        body += b"".join(b"%b\n" % each for each in lines if each.startswith(question.beginnings))
        if read > _MOST_READ_BYTES or len(body) + len(unfinished) > question.most_bytes:
            raise ValueError(f"more than {question.most_bytes} of {read} bytes")
    return bytes(body) + (unfinished if unfinished.startswith(question.beginnings) else b"")
