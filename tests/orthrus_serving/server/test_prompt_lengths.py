"""Prompts up to the model's length, beyond it, and cut to fit, asked of a real replica."""

from collections.abc import Callable

import httpx
import pytest

from tests.orthrus_serving.server.asking import (
    TOKEN,
    chat,
    complete,
    embed,
    prompt_tokens,
    token_ids,
    vectors,
)
from tests.orthrus_serving.server.replica_process import (
    BUDGET,
    CHUNK,
    MODEL_LENGTH,
)
from tests.orthrus_serving.server.test_routes import assert_error_form

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("length", [BUDGET + 1, MODEL_LENGTH - 1, MODEL_LENGTH])
def test_prompts_up_to_the_length_of_the_model(http: httpx.Client, length: int) -> None:
    reply = embed(http, [[TOKEN] * length])
    assert reply.status_code == 200
    assert reply.json()["usage"]["prompt_tokens"] == length


def test_a_longer_prompt_is_refused_and_leaves_the_replica_well(http: httpx.Client) -> None:
    reply = embed(http, [[TOKEN] * (MODEL_LENGTH + 1)])
    assert reply.status_code == 400
    assert_error_form(reply)
    for size in (MODEL_LENGTH, MODEL_LENGTH + 1):
        assert str(size) in reply.json()["error"]["message"]
    assert embed(http, [[TOKEN]]).status_code == 200


@pytest.mark.parametrize("kept", [1, CHUNK + 1, MODEL_LENGTH, -1])
def test_truncation_keeps_the_first_tokens_of_an_embedding(http: httpx.Client, kept: int) -> None:
    given = token_ids(MODEL_LENGTH + 50)
    reply = embed(http, [given], truncate_prompt_tokens=kept)
    count = MODEL_LENGTH if kept == -1 else kept
    assert prompt_tokens(reply) == count
    (alone,) = vectors(embed(http, [given[:count]]))
    assert vectors(reply)[0] == pytest.approx(alone, abs=1e-4)
    last = embed(http, [given], truncate_prompt_tokens=kept, truncation_side="left")
    (alone,) = vectors(embed(http, [given[-count:]]))
    assert vectors(last)[0] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("kept", [1, MODEL_LENGTH - 1, -1])
def test_truncation_makes_a_generation_fit(http: httpx.Client, kept: int) -> None:
    count = MODEL_LENGTH - 1 if kept == -1 else kept
    words = "word " * (2 * MODEL_LENGTH)
    for ask in (complete, chat):
        assert prompt_tokens(ask(http, words, truncate_prompt_tokens=kept)) == count


@pytest.mark.parametrize("kept", [0, -2, MODEL_LENGTH + 1, "many"])
@pytest.mark.parametrize("ask", [embed, complete, chat])
def test_another_truncation_is_refused_by_name(
    http: httpx.Client, ask: Callable[..., httpx.Response], kept: object
) -> None:
    reply = ask(http, "x", truncate_prompt_tokens=kept)
    assert reply.status_code == 400
    assert "truncate_prompt_tokens" in reply.json()["error"]["param"]
    assert_error_form(reply)


def test_a_generation_that_does_not_fit_is_refused_with_both_numbers(http: httpx.Client) -> None:
    for stream in (False, True):
        for length, asked in ((MODEL_LENGTH, None), (MODEL_LENGTH - 9, 10)):
            reply = complete(http, token_ids(length), max_tokens=asked, stream=stream)
            assert reply.status_code == 400
            assert str(length) in reply.json()["error"]["message"]
            assert_error_form(reply)
        assert chat(http, "x", max_tokens=MODEL_LENGTH, stream=stream).status_code == 400
    clipped = complete(http, token_ids(MODEL_LENGTH - 9), max_tokens=None, ignore_eos=True)
    assert clipped.json()["usage"]["completion_tokens"] == 9
    exact = complete(http, token_ids(MODEL_LENGTH - 9), max_tokens=9, ignore_eos=True)
    assert exact.json()["usage"]["completion_tokens"] == 9


def test_a_bound_is_read_as_the_route_reads_it(http: httpx.Client) -> None:
    assert complete(http, "x", max_tokens="2").status_code == 200
    unknown_here = complete(http, "x", max_tokens=2, max_completion_tokens=10**6)
    assert unknown_here.status_code == 200
