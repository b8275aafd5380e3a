"""Preempted and aborted requests in a live engine."""

import asyncio

import pytest
from torch import Tensor

from tests.orthrus_serving.engine.live_engine import CHUNK, MODEL_LENGTH, SEQUENCES, LiveEngine
from tests.orthrus_serving.engine.prompts import prompt
from tests.orthrus_serving.engine.reference import METHODS, Reference, assert_same

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="session"),
    # An engine's start has a deadline of its own.
    pytest.mark.timeout(300, func_only=True),
]


async def embedded_tokens(engine: LiveEngine) -> int:
    """Embedding tokens scheduled so far, recomputed ones again."""
    return (await engine.snapshot()).scheduled_tokens.embedding_chunk


async def more_embedded(engine: LiveEngine, before: int) -> None:
    await engine.wait_for(
        "an embedding chunk", lambda now: now.scheduled_tokens.embedding_chunk > before
    )


async def test_embeddings_preempted_in_the_middle_are_exact(
    engine: LiveEngine, reference: Reference
) -> None:
    """All prompts together need more KV blocks than there are, and twice all of the running
    requests lose theirs."""
    work = [(prompt(MODEL_LENGTH - 1, seed=i), m) for i, m in enumerate(METHODS)]
    before = await embedded_tokens(engine)

    async def embed_and_preempt() -> list[Tensor]:
        embeddings = asyncio.gather(*(engine.vector(tokens, m) for tokens, m in work))
        for _ in range(2):
            await more_embedded(engine, await embedded_tokens(engine))
            await engine.client.reset_prefix_cache(reset_running_requests=True)
        return await embeddings

    _, vectors = await engine.with_generations(
        [prompt(8, seed=i) for i in range(2)], max_tokens=40, work=embed_and_preempt
    )
    for (tokens, method), vector in zip(work, vectors, strict=True):
        assert_same(vector, reference.vector(tokens, method))
    computed = await embedded_tokens(engine) - before
    assert computed > sum(len(tokens) for tokens, _ in work), "no embedding was preempted"


async def test_aborted_embeddings_leave_no_trace(engine: LiveEngine, reference: Reference) -> None:
    """There are more of them than rows or pooling slots, so that kept ones would be missed."""
    for i in range(SEQUENCES + 2):
        before = await embedded_tokens(engine)
        embedding = asyncio.create_task(engine.vector(prompt(MODEL_LENGTH - 1, seed=i), "mean"))
        generation = asyncio.create_task(engine.generate(prompt(8, seed=i), 200))
        await more_embedded(engine, before)
        embedding.cancel()
        generation.cancel()
        await asyncio.wait([embedding, generation])
    prompts = [prompt(2 * CHUNK, seed=i) for i in range(SEQUENCES)]
    vectors = await asyncio.gather(*(engine.vector(tokens, "mean") for tokens in prompts))
    for tokens, vector in zip(prompts, vectors, strict=True):
        assert_same(vector, reference.vector(tokens, "mean"))
