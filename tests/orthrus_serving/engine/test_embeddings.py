"""Embeddings of a live engine against Transformers."""

import asyncio

import pytest
import torch

from tests.orthrus_serving.engine.live_engine import BLOCK, BUDGET, CHUNK, MODEL_LENGTH, LiveEngine
from tests.orthrus_serving.engine.prompts import prompt
from tests.orthrus_serving.engine.reference import METHODS, Reference, assert_same

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="session"),
    # An engine's start has a deadline of its own.
    pytest.mark.timeout(300, func_only=True),
]

LENGTHS = [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1, BUDGET + 1, MODEL_LENGTH]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("method", METHODS)
async def test_an_embedding_alone_equals_the_reference(
    engine: LiveEngine, reference: Reference, method: str, length: int
) -> None:
    tokens = prompt(length)
    assert_same(await engine.vector(tokens, method), reference.vector(tokens, method))


async def test_embeddings_equal_the_reference_while_generations_run(
    engine: LiveEngine, reference: Reference
) -> None:
    work = [(prompt(length, seed=1), method) for length in LENGTHS for method in METHODS]
    mixed_before = (await engine.snapshot()).steps.mixed
    _, vectors = await engine.with_generations(
        [prompt(8, seed=i) for i in range(3)],
        max_tokens=60,
        work=lambda: asyncio.gather(*(engine.vector(tokens, m) for tokens, m in work)),
    )
    for (tokens, method), vector in zip(work, vectors, strict=True):
        assert_same(vector, reference.vector(tokens, method))
    tokens_embedded = sum(len(tokens) for tokens, _ in work)
    mixed = (await engine.snapshot()).steps.mixed - mixed_before
    assert mixed > tokens_embedded / BUDGET, "some steps held embeddings only"


async def test_requests_of_one_batch_choose_their_own_head_and_scale(
    engine: LiveEngine, reference: Reference
) -> None:
    tokens = prompt(40)
    choices = [(method, normalize) for method in METHODS for normalize in (True, False)]
    vectors = await asyncio.gather(
        *(engine.vector(tokens, method, normalize=normalize) for method, normalize in choices)
    )
    for (method, normalize), vector in zip(choices, vectors, strict=True):
        expected = reference.vector(tokens, method)
        assert_same(
            vector, torch.nn.functional.normalize(expected, dim=0) if normalize else expected
        )


@pytest.mark.parametrize("method", METHODS)
async def test_an_embedding_asked_twice_is_right_twice(
    engine: LiveEngine, reference: Reference, method: str
) -> None:
    """The second finds the first in the prefix cache, where only the last token's head looks."""
    tokens = prompt(2 * BLOCK + 1, seed=2)
    await engine.vector(tokens, "last")
    again = await engine.embed(tokens, method)
    assert_same(again.outputs.data, reference.vector(tokens, method))
    assert (again.num_cached_tokens > 0) == (method == "last")


@pytest.mark.parametrize("method", ["unknown", "broken", "wrong-shape", "missing"])
async def test_a_head_that_fails_gives_an_empty_vector_and_harms_nobody(
    engine: LiveEngine, reference: Reference, method: str
) -> None:
    tokens = prompt(40, seed=3)
    wrong, right = await asyncio.gather(
        engine.vector(tokens, method), engine.vector(tokens, "mean")
    )
    assert wrong.shape == (0,)
    assert_same(right, reference.vector(tokens, "mean"))
