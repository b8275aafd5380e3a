"""Asking replicas for their metrics: many at once, but no more than a few, and for so long only."""

import asyncio
from collections.abc import Mapping

import aiohttp

from orthrus_operator.planner.replica_sample import ReplicaSample, replica_sample

_AT_ONCE = 32
_TIMEOUT = aiohttp.ClientTimeout(total=3)
_MOST_BYTES = 8 * 2**20


async def scrape(addresses: Mapping[str, str], within: float) -> dict[str, ReplicaSample]:
    """What the replicas say, by the keys of `addresses` (`http://HOST:PORT`).

    Who doesn't answer, in `within` seconds for all of them, is left out; never raises.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, ReplicaSample] = {}

    async def ask(key: str, address: str) -> None:
        async with gate:
            sample = await _ask(client, address)
            if sample:
                found[key] = sample

    async with aiohttp.ClientSession(timeout=_TIMEOUT) as client:
        tasks = [asyncio.create_task(ask(key, address)) for key, address in addresses.items()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=within)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
    return found


async def _ask(client: aiohttp.ClientSession, address: str) -> ReplicaSample | None:
    try:
        async with client.get(f"{address}/metrics", allow_redirects=False) as answer:
            if answer.status != 200:
                return None
            return replica_sample((await _body(answer)).decode())
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return None


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    """Raises ValueError when it is longer than any replica's."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
    return bytes(body)
