"""Clients that leave before their answer leave nothing behind in a real replica."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.orthrus_serving.server.asking import (
    complete,
    embed,
    token_ids,
    vectors,
)
from tests.orthrus_serving.server.departing_client import unanswered
from tests.orthrus_serving.server.replica_process import (
    CHUNK,
    MODEL_LENGTH,
    NAME,
    ReplicaProcess,
)

pytestmark = pytest.mark.engine


def test_clients_that_leave_free_everything(http: httpx.Client, replica: ReplicaProcess) -> None:
    """In the middle of a stream, of a chunked embedding, and while still queued."""
    used = "orthrus_kv_cache_usage_ratio"
    replica.wait_metric(used, lambda share: share == 0)
    aborted = replica.metric(
        "orthrus_requests_total", type="generation", model=NAME, status="aborted"
    )
    generation = {"model": NAME, "prompt": "x", "max_tokens": 200, "ignore_eos": True}
    embedding = {"model": NAME, "input": [token_ids(MODEL_LENGTH)] * 20}
    with (
        unanswered(replica.url, "/v1/completions", {**generation, "stream": True}),
        unanswered(replica.url, "/v1/completions", generation),
        unanswered(replica.url, "/v1/embeddings", embedding),
    ):
        replica.wait_metric("orthrus_backlog_requests", lambda n: n > 5, type="embedding")
        replica.wait_metric(used, lambda share: share > 0)
    for task in ("embedding", "generation"):
        replica.wait_metric("orthrus_backlog_requests", lambda n: n == 0, type=task)
    replica.wait_metric(used, lambda share: share == 0)
    replica.wait_metric(
        "orthrus_requests_total",
        lambda n: n == aborted + 2,
        type="generation",
        model=NAME,
        status="aborted",
    )
    assert complete(http, "x").status_code == 200


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_five_hundred_clients_that_leave_at_any_moment_leave_nothing(
    http: httpx.Client, replica: ReplicaProcess
) -> None:
    used = "orthrus_kv_cache_usage_ratio"
    before = [vectors(embed(http, [token_ids(length)]))[0] for length in (CHUNK, MODEL_LENGTH)]
    replica.wait_metric(used, lambda share: share == 0)
    chance = random.Random(7)  # noqa: S311
    moments = [(index, chance.uniform(0, 0.05)) for index in range(500)]

    def leave(at: tuple[int, float]) -> None:
        index, seconds = at
        length = index % MODEL_LENGTH + 1
        asks: list[tuple[str, dict[str, object]]] = [
            ("/v1/embeddings", {"input": [token_ids(length)] * (index % 3 + 1)}),
            ("/v1/completions", {"prompt": token_ids(length // 2 + 1), "n": index % 3 + 1}),
            ("/v1/completions", {"prompt": token_ids(9), "stream": True, "max_tokens": 100}),
        ]
        path, body = asks[index % len(asks)]
        with unanswered(replica.url, path, {"model": NAME, **body}):
            time.sleep(seconds)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(leave, moments))
    for task in ("embedding", "generation"):
        replica.wait_metric("orthrus_backlog_requests", lambda n: n == 0, type=task)
    replica.wait_metric(used, lambda share: share == 0)
    # As many at once as there are rows: a kept row, KV block or pooling slot would be missed.
    with ThreadPoolExecutor(8) as pool:
        after = list(
            pool.map(lambda _: vectors(embed(http, [token_ids(MODEL_LENGTH)]))[0], range(8))
        )
    for vector in after:
        assert vector == pytest.approx(before[1], abs=1e-4)
    assert vectors(embed(http, [token_ids(CHUNK)]))[0] == pytest.approx(before[0], abs=1e-4)
