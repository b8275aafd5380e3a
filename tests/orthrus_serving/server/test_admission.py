"""The bounded queue of a real replica."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.orthrus_serving.server.asking import TOKEN, chat, complete, embed
from tests.orthrus_serving.server.departing_client import unanswered
from tests.orthrus_serving.server.replica_process import (
    CHUNK,
    MODEL_LENGTH,
    NAME,
    QUEUED_TOKENS,
    ReplicaProcess,
)
from tests.orthrus_serving.server.test_routes import assert_error_form

pytestmark = pytest.mark.engine

DOCUMENT = [TOKEN] * MODEL_LENGTH
DOCUMENTS = QUEUED_TOKENS // MODEL_LENGTH
"""So many fill the queue."""
PROMPT = [TOKEN] * (MODEL_LENGTH // 2)


def test_what_does_not_fit_is_refused_whole_until_there_is_room(
    http: httpx.Client, replica: ReplicaProcess
) -> None:
    refused = replica.metric("orthrus_rejected_requests_total", reason="queue_full")
    filling = {"model": NAME, "input": [DOCUMENT] * (DOCUMENTS - 1) + [PROMPT]}
    with unanswered(replica.url, "/v1/embeddings", filling):
        replica.wait_metric("orthrus_backlog_requests", lambda n: n > 0, type="embedding")
        # A quarter of the queue has no room for long after the first prompts are done.
        many = [DOCUMENT] * (DOCUMENTS // 4)
        replies = [
            embed(http, many),
            complete(http, [PROMPT] * (DOCUMENTS // 2), stream=True),
            complete(http, PROMPT, n=DOCUMENTS // 2),
        ]
        for reply in replies:
            assert reply.status_code == 429
            assert int(reply.headers["retry-after"]) > 0
            assert_error_form(reply)
        assert complete(http, [TOKEN]).status_code == 200
    assert replica.metric("orthrus_rejected_requests_total", reason="queue_full") == refused + 3
    # The client has left, so its place is free at once, and nothing of the refused is in the queue.
    replica.wait_metric("orthrus_backlog_requests", lambda n: n == 0, type="embedding")
    assert replica.metric("orthrus_backlog_requests", type="generation") == 0
    assert embed(http, many).status_code == 200


def test_a_request_above_the_whole_queue_is_413(http: httpx.Client) -> None:
    replies = [
        embed(http, [DOCUMENT] * (DOCUMENTS + 1)),
        complete(http, [PROMPT] * (2 * DOCUMENTS + 1)),
        complete(http, PROMPT, n=2 * DOCUMENTS + 1),
    ]
    for reply in replies:
        assert reply.status_code == 413
        assert str(QUEUED_TOKENS) in reply.json()["error"]["message"]
        assert_error_form(reply)


def test_a_burst_is_served_or_refused_and_never_lost(replica: ReplicaProcess) -> None:
    def one(index: int) -> int:
        with httpx.Client(base_url=replica.url, timeout=300) as http:
            reply = complete(http, PROMPT[:CHUNK]) if index % 2 else embed(http, [PROMPT])
            if reply.status_code == 429:
                assert reply.headers["retry-after"]
            return reply.status_code

    with ThreadPoolExecutor(60) as pool:
        codes = list(pool.map(one, range(60)))
    assert set(codes) <= {200, 429}
    assert codes.count(200) > 0
    with httpx.Client(base_url=replica.url, timeout=60) as http:
        assert chat(http, "hello").status_code == 200
