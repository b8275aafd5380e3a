"""One task alone: Orthrus beside a stock engine that knows only that task."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from e2e.engine_benchmarks.engines import (
    STOCK_GENERATE,
    STOCK_POOLING,
    RunningEngine,
    System,
    orthrus,
    others_are_idle,
    running,
)
from e2e.engine_benchmarks.workloads import closed_loop, prompts
from orthrus_serving.bench.measure.ratios import Comparison, Goal

CLIENTS = (1, 8, 64, 256)
PROMPT_TOKENS, OUTPUT_TOKENS = 64, 16
REQUESTS_OF_ONE_CLIENT = 12
PAIRS_OF_A_START = 3
EMBEDDINGS, EMBEDDING_TOKENS, EMBEDDING_CLIENTS = 64, 128, 64


@dataclass(frozen=True)
class Load:
    """How many requests are open at any time, and what one is."""

    clients: int
    ask: Callable[[RunningEngine, list[int]], Awaitable[object]]


@dataclass(frozen=True)
class Pair:
    """Both engines, about to be measured once each; who goes first alternates."""

    number: int
    ours: RunningEngine
    stock: RunningEngine
    is_warm_up: bool


async def generation_only(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """Requests per second, ours ÷ stock, at each number of clients."""
    ratios: dict[int, list[float]] = {clients: [] for clients in CLIENTS}
    async for pair in _pairs(pairs, STOCK_GENERATE, cores):
        for clients in CLIENTS:
            count = max(clients, REQUESTS_OF_ONE_CLIENT)
            work = prompts(count, PROMPT_TOKENS, seed=pair.number)
            ratio = await _speed(pair, work, Load(clients, _generate))
            if not pair.is_warm_up:
                ratios[clients].append(ratio)
    return [
        Comparison(
            f"generation only, {clients} clients",
            f"requests per second, {PROMPT_TOKENS} tokens in and {OUTPUT_TOKENS} out, ours ÷ stock",
            ratios[clients],
            Goal("at least", 0.99),
        )
        for clients in CLIENTS
    ]


async def embedding_only(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """Requests per second, ours ÷ stock pooling engine."""
    work = prompts(EMBEDDINGS, EMBEDDING_TOKENS, seed=0)
    ratios: list[float] = []
    async for pair in _pairs(pairs, STOCK_POOLING, cores):
        ratio = await _speed(pair, work, Load(EMBEDDING_CLIENTS, _embed))
        if not pair.is_warm_up:
            ratios.append(ratio)
    meaning = f"requests per second, {EMBEDDING_TOKENS} tokens, mean, ours ÷ stock pooling engine"
    return [Comparison("embedding only", meaning, ratios, Goal("at least", 1.0))]


async def _pairs(pairs: int, stock: System, cores: Sequence[int]) -> AsyncIterator[Pair]:
    """Starts both engines anew after every `PAIRS_OF_A_START`, in turn ours and stock first.

    One start of the same two engines had a ratio of 0.89 for all of its pairs, and the next 1.01:
    to how an engine comes to lie in memory, or whatever it is, more pairs are no answer.
    """
    for start, first in enumerate(range(0, pairs, PAIRS_OF_A_START)):
        turn = 1 if start % 2 else -1
        order = [orthrus(), stock][::turn]
        async with AsyncExitStack() as stack:
            started = [await stack.enter_async_context(running(each, cores)) for each in order]
            ours, theirs = started[::turn]
            yield Pair(first, ours, theirs, is_warm_up=True)
            for number in range(first, min(first + PAIRS_OF_A_START, pairs)):
                yield Pair(number, ours, theirs, is_warm_up=False)


async def _speed(pair: Pair, work: list[list[int]], load: Load) -> float:
    """Speed of ours ÷ speed of stock."""
    ours, stock = pair.ours, pair.stock
    seconds: dict[str, float] = {}
    for engine in (ours, stock) if pair.number % 2 else (stock, ours):
        await others_are_idle()
        ask = partial(load.ask, engine)
        seconds[engine.system.name] = await closed_loop(work, load.clients, ask)
    return seconds[stock.system.name] / seconds[ours.system.name]


async def _generate(engine: RunningEngine, tokens: list[int]) -> object:
    return await engine.generate(tokens, OUTPUT_TOKENS)


async def _embed(engine: RunningEngine, tokens: list[int]) -> object:
    return await engine.embed(tokens)
