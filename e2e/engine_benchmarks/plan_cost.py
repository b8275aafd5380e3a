"""schedule() with a long queue: ours beside stock vLLM's, step by step in one process."""

import time
from collections.abc import Iterator
from statistics import median

from vllm.v1.request import Request

from orthrus_serving.bench.measure.ratios import Comparison, Goal
from tests.orthrus_serving.engine.scheduler_loop import (
    CountingWorker,
    LoopConfig,
    RequestMaker,
    make_scheduler,
    make_stock_scheduler,
)

QUEUED = 10_000
PROMPT_TOKENS = 128
STEPS = 40
"""Per pair; both systems take a step in turn, so noise meets both alike."""
CONFIG = LoopConfig(
    chunk_tokens=512, token_budget=2048, sequences=256, max_model_len=2048, blocks=100_000
)


def plan_cost(pairs: int) -> list[Comparison]:
    ratios = [_one_pair(seed) for seed in range(pairs)]
    meaning = f"median schedule() with {QUEUED:,} queued requests, ours ÷ stock"
    return [Comparison("schedule", meaning, ratios, Goal("at most", 1.1))]


def _one_pair(seed: int) -> float:
    ours, stock = make_scheduler(CONFIG), make_stock_scheduler(CONFIG)
    workers = {scheduler: CountingWorker() for scheduler in (ours, stock)}
    seconds = {scheduler: list[float]() for scheduler in workers}
    for scheduler in workers:
        for request in _queue(seed):
            scheduler.add_request(request)
    for _ in range(STEPS):
        for scheduler, worker in workers.items():
            started = time.perf_counter()
            step = scheduler.schedule()
            seconds[scheduler].append(time.perf_counter() - started)
            scheduler.update_from_output(step, worker.execute(step))
    return median(seconds[ours]) / median(seconds[stock])


def _queue(seed: int) -> Iterator[Request]:
    """Half embeddings, half generations, in turn: a stock scheduler can queue both."""
    maker = RequestMaker(seed)
    for _ in range(QUEUED // 2):
        yield maker.embedding(PROMPT_TOKENS)
        yield maker.generation(PROMPT_TOKENS, max_tokens=32)
