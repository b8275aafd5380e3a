"""Prompts and clients of the benchmarks."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

_ORDINARY_TOKENS = range(1000, 40000)
"""Of the sample model: none is special."""


def prompts(count: int, length: int, seed: int) -> list[list[int]]:
    """`count` prompts of `length` random tokens; no two begin alike."""
    draw = random.Random(seed)  # noqa: S311
    return [draw.choices(_ORDINARY_TOKENS, k=length) for _ in range(count)]


async def closed_loop(
    work: list[list[int]], clients: int, ask: Callable[[list[int]], Awaitable[object]]
) -> float:
    """Seconds until all of `work` is answered, `clients` requests being open at any time."""
    left = iter(work)

    async def client() -> None:
        for tokens in left:
            await ask(tokens)

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return time.perf_counter() - started
