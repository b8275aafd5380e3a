import asyncio
from typing import Any

import httpx

from orthrus_serving.engine.models_report import AdapterState, AdapterStatus, ModelsReport
from orthrus_serving.server.api_key import ApiKeys
from tests.orthrus_serving.server.outer_app import OuterApp, until

EMBEDDINGS = "/v1/embeddings"
NOTHING: dict[str, Any] = {"adapters": [], "embeddingSpaces": {}}


async def test_loading_is_healthy_but_not_ready(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health")).status_code == 200
    ready = await client.get("/ready")
    assert ready.status_code == 503
    assert ready.json() == {"ready": False, "reason": "loading weights", **NOTHING}


async def test_loading_refuses_everything_else_with_retry_after(client: httpx.AsyncClient) -> None:
    for path in (EMBEDDINGS, "/metrics", "/nothing"):
        reply = await client.post(path)
        assert reply.status_code == 503
        assert int(reply.headers["retry-after"]) > 0
        assert "loading weights" in reply.json()["error"]["message"]


async def test_serving_is_ready_and_forwards(outer: OuterApp, client: httpx.AsyncClient) -> None:
    outer.serve()
    ready = {"ready": True, "reason": "serving", **NOTHING}
    assert (await client.get("/ready")).json() == ready
    assert (await client.post(EMBEDDINGS)).text == EMBEDDINGS


async def test_ready_waits_for_the_adapters_of_the_start_and_for_no_later_one(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    states = {"a": AdapterState.LOADING, "b": AdapterState.LOADED}

    def report() -> ModelsReport:
        return ModelsReport(
            tuple(
                AdapterStatus(name, "0123", state, serves=False) for name, state in states.items()
            )
        )

    outer.lifecycle.begin_serving(outer.inner, ApiKeys(), models=report)
    waiting = await client.get("/ready")
    assert waiting.status_code == 503
    assert waiting.json()["reason"] == "loading adapters: a"
    assert (await client.post(EMBEDDINGS)).status_code == 200

    states["a"] = AdapterState.FAILED
    ready = await client.get("/ready")
    assert ready.status_code == 200
    assert [tuple(a.values())[:3] for a in ready.json()["adapters"]] == [
        ("a", "0123", "failed"),
        ("b", "0123", "loaded"),
    ]

    states["c"] = AdapterState.LOADING
    assert (await client.get("/ready")).status_code == 200


async def test_draining_finishes_running_requests_and_refuses_new_ones(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    outer.serve()
    outer.inner.may_answer.clear()
    running = asyncio.create_task(client.post(EMBEDDINGS))
    await until(lambda: len(outer.in_flight) == 1)
    outer.lifecycle.begin_draining()

    refused = await client.post(EMBEDDINGS)
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert refused.headers["connection"] == "close"
    assert (await client.get("/ready")).json() == {
        "ready": False,
        "reason": "draining",
        **NOTHING,
    }
    assert (await client.get("/health")).status_code == 200
    assert not await outer.in_flight.wait_empty(0.01)

    outer.inner.may_answer.set()
    assert (await running).status_code == 200
    assert await outer.in_flight.wait_empty(1)


async def test_metrics_are_served_while_draining(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    outer.serve("key")
    outer.lifecycle.begin_draining()
    assert (await client.get("/metrics")).text == "/metrics"


async def test_an_abandoned_request_is_answered_503(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    outer.serve()
    outer.inner.may_answer.clear()
    running = asyncio.create_task(client.post(EMBEDDINGS))
    await until(lambda: len(outer.in_flight) == 1)
    outer.in_flight.abandon()
    reply = await running
    assert reply.status_code == 503
    assert "drain timeout" in reply.json()["error"]["message"]
    assert len(outer.in_flight) == 0


async def test_an_announcement_while_loading_holds_when_the_model_is_there(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    outer.lifecycle.begin_leaving()
    assert (await client.get("/ready")).status_code == 503
    outer.serve()
    assert "about to be stopped" in (await client.get("/ready")).json()["reason"]
    assert (await client.post("/v1/embeddings")).status_code == 200
