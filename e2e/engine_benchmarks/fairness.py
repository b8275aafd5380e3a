"""What the other task's queue costs a request: embeddings behind generations, and the reverse."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from e2e.engine_benchmarks.engines import (
    BUDGET,
    CHUNK,
    RunningEngine,
    orthrus,
    others_are_idle,
    running,
)
from e2e.engine_benchmarks.workloads import prompts
from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.scheduling.snapshot import ByTask

BURST, BURST_TOKENS = 64, 1024
BEHIND, BEHIND_TOKENS = 32, 128
WORST = 40
"""Generations, then as many embeddings, all at once: the paper's worst case (§5), smaller."""
QUEUED_EMBEDDINGS, QUEUED_TOKENS = 40, 500
STEPS_ALLOWED = 5


async def embeddings_behind_generations(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """p99 latency of the embeddings, ibs ÷ fcfs."""
    burst: list[float] = []
    worst: list[float] = []
    async with (
        running(orthrus("ibs"), cores) as ibs,
        running(orthrus("fcfs", batch_policy="fcfs"), cores) as fcfs,
    ):
        for pair in range(pairs):
            order = (ibs, fcfs) if pair % 2 else (fcfs, ibs)
            latency = {e.system.name: await _behind_burst(e, pair) for e in order}
            burst.append(latency["ibs"] / latency["fcfs"])
            latency = {e.system.name: await _worst_case(e, pair) for e in order}
            worst.append(latency["ibs"] / latency["fcfs"])
    promised = CHUNK / BUDGET
    return [
        Comparison(
            "embeddings behind a burst",
            f"p99 latency of {BEHIND} embeddings of {BEHIND_TOKENS} tokens behind {BURST} prompts "
            f"of {BURST_TOKENS}, ibs ÷ fcfs",
            burst,
            Goal("at most", 1.2 * promised),
        ),
        Comparison(
            "paper's worst case",
            f"p99 latency of {WORST} embeddings behind {WORST} generations, ibs ÷ fcfs",
            worst,
        ),
    ]


async def _behind_burst(engine: RunningEngine, seed: int) -> float:
    await others_are_idle()
    work = prompts(BURST, BURST_TOKENS, seed)
    generations = [asyncio.create_task(engine.generate(tokens, 1)) for tokens in work]
    return await _embed_behind(engine, generations, prompts(BEHIND, BEHIND_TOKENS, seed))


async def _worst_case(engine: RunningEngine, seed: int) -> float:
    await others_are_idle()
    work = prompts(WORST, 128, seed)
    generations = [asyncio.create_task(engine.generate(tokens, 32)) for tokens in work]
    return await _embed_behind(engine, generations, prompts(WORST, 128, seed + 1))


async def _embed_behind(
    engine: RunningEngine, generations: list[asyncio.Task[list[float]]], work: list[list[int]]
) -> float:
    """p99 latency of `work`; the generations, which are queued first, are aborted afterwards."""
    await asyncio.sleep(0)  # each generation is on its way to the engine before any embedding
    latencies = await asyncio.gather(*(engine.embed(tokens) for tokens in work))
    await _abort(engine, generations)
    return float(np.percentile(latencies, 99))


async def first_token_behind_embeddings(pairs: int, cores: Sequence[int]) -> list[Comparison]:
    """A one-token prompt behind a long embedding queue, with the floor and without."""
    ratios: list[float] = []
    steps: list[float] = []
    async with (
        running(orthrus("floor"), cores) as floor,
        running(orthrus("no floor", min_opportunities=0), cores) as without,
    ):
        for pair in range(pairs):
            order = (floor, without) if pair % 2 else (without, floor)
            found = {engine: await _first_token(engine, pair) for engine in order}
            ratios.append(found[floor].seconds / found[without].seconds)
            steps.append(found[floor].steps)
    behind = f"a one-token prompt behind {QUEUED_EMBEDDINGS * QUEUED_TOKENS:,} embedding tokens"
    return [
        Comparison(
            "first token, steps",
            f"engine steps to the first token of {behind}",
            steps,
            Goal("at most", STEPS_ALLOWED),
        ),
        Comparison("first token, floor", f"time to first token of {behind}, floor ÷ none", ratios),
    ]


@dataclass(frozen=True)
class FirstToken:
    """How long it took."""

    seconds: float
    steps: int


async def _first_token(engine: RunningEngine, seed: int) -> FirstToken:
    await others_are_idle()
    work = prompts(QUEUED_EMBEDDINGS, QUEUED_TOKENS, seed)
    embeddings = [asyncio.create_task(engine.embed(tokens)) for tokens in work]
    await engine.reach(lambda now: now.backlog_requests.embedding > QUEUED_EMBEDDINGS // 2)
    before = await _steps(engine)
    [seconds] = await engine.generate(prompts(1, 1, seed)[0], 1)
    taken = await _steps(engine) - before
    await _abort(engine, embeddings)
    return FirstToken(seconds, taken)


async def _steps(engine: RunningEngine) -> int:
    steps = (await engine.snapshot()).steps
    return steps.mixed + steps.embedding + steps.generation


async def _abort(engine: RunningEngine, tasks: Sequence["asyncio.Task[Any]"]) -> None:
    """Cancel requests, and wait until the engine holds none."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await engine.reach(lambda now: now.backlog_requests == ByTask())
