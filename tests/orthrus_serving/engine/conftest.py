import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.orthrus_serving.engine.live_engine import (
    LiveEngine,
    engine_environment,
    start,
    start_stock,
)
from tests.orthrus_serving.engine.prompts import prompt
from tests.orthrus_serving.engine.reference import Reference

GENERATED_TOKENS = 32


@dataclass(frozen=True)
class StockRun:
    """What an unextended vLLM did in this environment."""

    prompts: list[list[int]]
    generations: list[list[int]]
    tasks: tuple[str, ...]
    snapshot_error: str


@pytest.fixture(scope="session")
def reference(sample_model: Path) -> Reference:
    return Reference(sample_model)


@pytest.fixture(scope="session")
def environment() -> Iterator[None]:
    with engine_environment():
        yield


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stock_run(sample_model: Path, environment: None) -> StockRun:
    """One stock engine, gone again before a test sees its answers."""
    engine = start_stock(sample_model)
    try:
        prompts = [prompt(length) for length in (1, 5, 17, 33, 70, 130)]
        generations = await asyncio.gather(
            *(engine.generate(tokens, GENERATED_TOKENS) for tokens in prompts)
        )
        tasks = await engine.client.get_supported_tasks()
        with pytest.raises(Exception) as raised:
            await engine.snapshot()
        return StockRun(prompts, generations, tasks, str(raised.value))
    finally:
        engine.client.shutdown()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine(sample_model: Path, environment: None) -> AsyncIterator[LiveEngine]:
    """Our engine, one for the whole session."""
    engine = start(sample_model)
    yield engine
    engine.client.shutdown()
