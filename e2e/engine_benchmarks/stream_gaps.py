"""What an embedding flood does to the pace of a stream, with an inter-token target and without."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from e2e.engine_benchmarks.engines import RunningEngine, orthrus, others_are_idle, running
from e2e.engine_benchmarks.workloads import prompts
from orthrus_serving.bench.measure.ratios import Comparison, Goal

FLOOD_CLIENTS, FLOOD_TOKENS = 16, 512
IDLE_STREAM, FLOODED_STREAM, TARGETED_STREAM = 60, 12, 120
"""Output tokens: a step under a flood without a target takes a full budget."""
TARGET_IN_IDLE_GAPS = 2


async def stream_gaps(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """Gaps between the tokens of one stream under a flood, and what the target costs the flood."""
    slowdown: list[float] = []
    kept: list[float] = []
    cost: list[float] = []
    async with running(orthrus("no target"), cores) as free:
        idle = np.concatenate([await _gaps(free, IDLE_STREAM, seed) for seed in range(3)])
        target_ms = TARGET_IN_IDLE_GAPS * float(np.median(idle)) * 1000
        targeted = orthrus("target", max_inter_token_millis=target_ms)
        async with running(targeted, cores) as bound:
            for pair in range(pairs):
                idle_gaps = await _gaps(free, IDLE_STREAM, pair)
                lengths = {free: FLOODED_STREAM, bound: TARGETED_STREAM}
                order = (free, bound) if pair % 2 else (bound, free)
                found = {engine: await _flooded(engine, lengths[engine], pair) for engine in order}
                slowdown.append(float(found[free].gaps.max() / idle_gaps.max()))
                kept.append(float(np.percentile(found[bound].gaps, 99)) * 1000 / target_ms)
                cost.append(found[bound].embedding_rate / found[free].embedding_rate)
    flood = f"a flood of embeddings of {FLOOD_TOKENS} tokens"
    return [
        Comparison("stream, no target", f"largest gap under {flood} ÷ largest idle gap", slowdown),
        Comparison(
            "stream, target",
            f"p99 gap under {flood} ÷ target ({TARGET_IN_IDLE_GAPS} median idle gaps)",
            kept,
            Goal("at most", 1.2),
        ),
        Comparison("cost of the target", "embedding tokens per second, target ÷ none", cost),
    ]


@dataclass(frozen=True)
class Flooded:
    """A stream under the flood: gaps in seconds, and the flood's tokens per second meanwhile."""

    gaps: NDArray[np.float64]
    embedding_rate: float


async def _gaps(engine: RunningEngine, tokens: int, seed: int) -> NDArray[np.float64]:
    """Seconds between the tokens of a stream."""
    await others_are_idle()
    return np.diff(await engine.generate(prompts(1, 32, seed)[0], tokens))


async def _flooded(engine: RunningEngine, tokens: int, seed: int) -> Flooded:
    await others_are_idle()
    async with _flood(engine, seed):
        before = (await engine.snapshot()).scheduled_tokens.embedding_chunk
        arrivals = await engine.generate(prompts(1, 32, seed)[0], tokens)
        done = (await engine.snapshot()).scheduled_tokens.embedding_chunk - before
    return Flooded(np.diff(arrivals), done / arrivals[-1])


@asynccontextmanager
async def _flood(engine: RunningEngine, seed: int) -> AsyncIterator[None]:
    """`FLOOD_CLIENTS` clients that embed without a pause."""

    async def client(number: int) -> None:
        for turn in itertools.count():
            await engine.embed(prompts(1, FLOOD_TOKENS, hash((seed, number, turn)))[0])

    clients = [asyncio.create_task(client(number)) for number in range(FLOOD_CLIENTS)]
    await engine.reach(lambda now: now.backlog_requests.embedding > FLOOD_CLIENTS // 2)
    try:
        yield
    finally:
        for task in clients:
            task.cancel()
        await asyncio.wait(clients)
