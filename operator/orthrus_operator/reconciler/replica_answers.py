"""Asking replicas: many at once, but no more than a few, and for so long only."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

import aiohttp

_AT_ONCE = 32
_TIMEOUT = aiohttp.ClientTimeout(total=3)
_MOST_BYTES = 8 * 2**20

Answer = TypeVar("Answer")


async def replica_answers(
    addresses: Mapping[str, str],
    path: str,
    read: Callable[[int, bytes], Answer],
    within: float,
) -> dict[str, Answer]:
    """What `read` makes of status and body of each answer, by the keys of `addresses`
    (`http://HOST:PORT`).

    Left out is who doesn't answer, in `within` seconds for all of them, or with something that is
    not of the form that `read` expects (ValueError, TypeError, LookupError); never raises.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, Answer] = {}

    async def ask(key: str, address: str) -> None:
        try:
            async with gate, client.get(f"{address}{path}", allow_redirects=False) as answer:
                found[key] = read(answer.status, await _body(answer))
        except (aiohttp.ClientError, TimeoutError, ValueError, TypeError, LookupError):
            return

    async with aiohttp.ClientSession(timeout=_TIMEOUT) as client:
        tasks = [asyncio.create_task(ask(key, address)) for key, address in addresses.items()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=within)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
    return found


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    """Raises ValueError when it is longer than any replica's."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
    return bytes(body)
