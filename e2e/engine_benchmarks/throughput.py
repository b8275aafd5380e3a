"""One task alone: Orthrus beside a stock engine that knows only that task."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from e2e.engine_benchmarks.engines import (
    STOCK_GENERATE,
    STOCK_POOLING,
    RunningEngine,
    orthrus,
    running,
)
from e2e.engine_benchmarks.workloads import closed_loop, prompts
from orthrus_serving.bench.measure.ratios import Comparison, Goal

CLIENTS = (1, 8, 64, 256)
PROMPT_TOKENS, OUTPUT_TOKENS = 64, 16
REQUESTS_OF_ONE_CLIENT = 6
EMBEDDINGS, EMBEDDING_TOKENS, EMBEDDING_CLIENTS = 64, 128, 64


@dataclass(frozen=True)
class Load:
    """How many requests are open at any time, and what one is."""

    clients: int
    ask: Callable[[RunningEngine, list[int]], Awaitable[object]]


async def generation_only(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """Requests per second, ours ÷ stock, at each number of clients."""
    ratios: dict[int, list[float]] = {clients: [] for clients in CLIENTS}
    async with running(STOCK_GENERATE, cores) as stock, running(orthrus(), cores) as ours:
        for pair in range(-1, pairs):  # the first one warms up
            for clients in CLIENTS:
                work = prompts(max(clients, REQUESTS_OF_ONE_CLIENT), PROMPT_TOKENS, seed=pair)
                ratio = await _speed(pair, ours, stock, work, Load(clients, _generate))
                if pair >= 0:
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
    async with running(STOCK_POOLING, cores) as stock, running(orthrus(), cores) as ours:
        ratios = [
            await _speed(pair, ours, stock, work, Load(EMBEDDING_CLIENTS, _embed))
            for pair in range(-1, pairs)
        ][1:]
    meaning = f"requests per second, {EMBEDDING_TOKENS} tokens, mean, ours ÷ stock pooling engine"
    return [Comparison("embedding only", meaning, ratios, Goal("at least", 1.0))]


async def _speed(
    pair: int, ours: RunningEngine, stock: RunningEngine, work: list[list[int]], load: Load
) -> float:
    """Speed of ours ÷ speed of stock; who goes first alternates."""
    seconds: dict[str, float] = {}
    for engine in (ours, stock) if pair % 2 else (stock, ours):
        ask = partial(load.ask, engine)
        seconds[engine.system.name] = await closed_loop(work, load.clients, ask)
    return seconds[stock.system.name] / seconds[ours.system.name]


async def _generate(engine: RunningEngine, tokens: list[int]) -> object:
    return await engine.generate(tokens, OUTPUT_TOKENS)


async def _embed(engine: RunningEngine, tokens: list[int]) -> object:
    return await engine.embed(tokens)
