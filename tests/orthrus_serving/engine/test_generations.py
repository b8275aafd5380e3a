"""Generations of a live engine against an unextended vLLM."""

import asyncio

import pytest

from tests.orthrus_serving.engine.conftest import GENERATED_TOKENS, StockRun
from tests.orthrus_serving.engine.live_engine import LiveEngine
from tests.orthrus_serving.engine.prompts import prompt

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="session"),
    # An engine's start has a deadline of its own.
    pytest.mark.timeout(300, func_only=True),
]


async def test_greedy_generations_equal_stock_ones_while_embeddings_run(
    engine: LiveEngine, stock_run: StockRun
) -> None:
    mixed_before = (await engine.snapshot()).steps.mixed
    generations, _ = await engine.with_generations(
        stock_run.prompts,
        GENERATED_TOKENS,
        work=lambda: asyncio.gather(*(engine.vector(prompt(90, seed=i), "mean") for i in range(8))),
    )
    assert generations == stock_run.generations
    assert (await engine.snapshot()).steps.mixed - mixed_before > 5


async def test_greedy_generations_equal_stock_ones_with_a_warm_prefix_cache(
    engine: LiveEngine, stock_run: StockRun
) -> None:
    for tokens in stock_run.prompts:
        await engine.generate(tokens, max_tokens=1)
    generations = await asyncio.gather(
        *(engine.generate(tokens, GENERATED_TOKENS) for tokens in stock_run.prompts)
    )
    assert generations == stock_run.generations


async def test_the_baseline_is_not_one_answer_repeated(stock_run: StockRun) -> None:
    assert len({tuple(tokens) for tokens in stock_run.generations}) == len(stock_run.prompts)
