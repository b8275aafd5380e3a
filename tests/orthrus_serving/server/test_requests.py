"""What is counted, timed, logged and echoed of each request."""

import asyncio
import json
import logging
from http import HTTPStatus

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from orthrus_serving.server.api_key import ApiKeys
from orthrus_serving.server.request_metrics import UNKNOWN_MODEL
from tests.orthrus_serving.server.outer_app import OuterApp, until
from tests.orthrus_serving.server.test_routes import assert_error_form

EMBEDDINGS = "/v1/embeddings"
CHAT = "/v1/chat/completions"
MEANING = f"{HTTPStatus(422).phrase}."
SECRET = "sk-secret"  # noqa: S105
PROMPT = "what nobody may read"


@pytest.fixture
def serving(outer: OuterApp) -> OuterApp:
    outer.serve()
    return outer


def value(outer: OuterApp, name: str, **labels: str) -> float:
    for metric in outer.metrics.collect():
        for sample in metric.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    raise AssertionError(f"no sample {name} {labels}")


@pytest.mark.parametrize(
    ("code", "status"),
    [(200, "ok"), (400, "client_error"), (404, "client_error"), (500, "server_error")],
)
async def test_requests_are_counted_by_type_and_outcome(
    serving: OuterApp, client: httpx.AsyncClient, code: int, status: str
) -> None:
    serving.inner.status = code
    for path, task in ((EMBEDDINGS, "embedding"), (CHAT, "generation")):
        labels = {"type": task, "model": UNKNOWN_MODEL}
        assert value(serving, "orthrus_requests_total", **labels, status=status) == 0
        await client.post(path)
        assert value(serving, "orthrus_requests_total", **labels, status=status) == 1
        assert value(serving, "orthrus_request_seconds_count", **labels) == 1


async def test_an_answer_that_was_cut_is_no_success(
    outer: OuterApp, client: httpx.AsyncClient
) -> None:
    async def begins_and_fails(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        raise RuntimeError("in the middle of a stream")

    outer.lifecycle.begin_serving(begins_and_fails, ApiKeys(), ApiKeys())
    with pytest.raises(RuntimeError, match="in the middle"):
        await client.post(CHAT)
    labels = {"type": "generation", "model": UNKNOWN_MODEL}
    assert value(outer, "orthrus_requests_total", **labels, status="server_error") == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plain",
        b"[1]",
        b'{"detail": "why"}',
        b'{"detail": [1]}',
        b'{"error": "why"}',
        b'{"error": {"message": "why"}}',
    ],
)
async def test_whatever_the_application_says_an_error_has_our_form(
    serving: OuterApp, client: httpx.AsyncClient, body: bytes
) -> None:
    serving.inner.status = 422
    serving.inner.answer = body
    reply = await client.post(EMBEDDINGS)
    assert reply.status_code == 422
    assert_error_form(reply)
    assert reply.json()["error"]["message"] == ("why" if b'"detail": "why"' in body else MEANING)


async def test_an_error_in_our_form_is_left_as_it_is(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    error = {"message": "why", "type": "Odd", "param": "input", "code": 400, "more": 1}
    serving.inner.status = 400
    serving.inner.answer = json.dumps({"error": error}).encode()
    assert (await client.post(EMBEDDINGS)).json() == {"error": error}


async def test_other_routes_are_not_counted(serving: OuterApp, client: httpx.AsyncClient) -> None:
    for method, path in (("GET", "/v1/models"), ("POST", "/tokenize"), ("GET", "/metrics")):
        assert (await client.request(method, path)).status_code == 200
    for metric in serving.metrics.collect():
        assert all(sample.value == 0 for sample in metric.samples), metric.name


async def test_a_request_is_counted_on_the_model_it_named_and_the_first_output_is_timed(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    serving.metrics.expect_models(["known"])
    serving.inner.may_answer.clear()
    running = asyncio.create_task(client.post(EMBEDDINGS))
    await until(lambda: serving.inner.request is not None)
    request = serving.inner.request
    assert request is not None
    request.model = "known"
    labels = {"type": "embedding", "model": "known"}
    for _ in range(2):
        request.prompt_computed(3)
        # At once, not when a long stream has ended; and once, however many prompts there are.
        assert value(serving, "orthrus_time_to_first_token_seconds_count", **labels) == 1
    serving.inner.may_answer.set()
    await running
    assert value(serving, "orthrus_requests_total", **labels, status="ok") == 1


async def test_a_client_that_leaves_is_counted_as_aborted(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    serving.inner.may_answer.clear()
    running = asyncio.create_task(client.post(CHAT))
    await until(lambda: serving.inner.request is not None)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    labels = {"type": "generation", "model": UNKNOWN_MODEL, "status": "aborted"}
    assert value(serving, "orthrus_requests_total", **labels) == 1


async def test_an_engine_that_failed_under_a_begun_answer_is_a_server_error(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    serving.inner.may_answer.clear()
    running = asyncio.create_task(client.post(CHAT))
    await until(lambda: serving.inner.request is not None)
    assert serving.inner.request is not None
    serving.inner.request.engine_failed = True
    serving.inner.request.broken_vectors = 1
    serving.inner.may_answer.set()
    await running
    labels = {"type": "generation", "model": UNKNOWN_MODEL, "status": "server_error"}
    assert value(serving, "orthrus_requests_total", **labels) == 1
    assert value(serving, "orthrus_non_finite_vectors_total") == 1


async def test_refusals_of_a_drain_are_counted_apart(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    serving.lifecycle.begin_draining()
    await client.post(EMBEDDINGS)
    assert value(serving, "orthrus_rejected_requests_total", reason="draining") == 1
    labels = {"type": "embedding", "model": UNKNOWN_MODEL, "status": "server_error"}
    assert value(serving, "orthrus_requests_total", **labels) == 0


@pytest.mark.parametrize("path", [EMBEDDINGS, "/health", "/nothing"])
async def test_a_request_id_is_echoed_and_handed_on(
    serving: OuterApp, client: httpx.AsyncClient, path: str
) -> None:
    reply = await client.post(path, headers={"x-request-id": "abc-1"})
    assert reply.headers.get_list("x-request-id") == ["abc-1"]


@pytest.mark.parametrize("given", [None, b"", b"x" * 200, b"a b", "é".encode()])
async def test_a_request_without_a_usable_id_gets_one(
    serving: OuterApp, client: httpx.AsyncClient, given: bytes | None
) -> None:
    headers = [] if given is None else [(b"x-request-id", given)]
    first, second = [await client.post(EMBEDDINGS, headers=headers) for _ in range(2)]
    ids = [reply.headers["x-request-id"] for reply in (first, second)]
    assert len(set(ids)) == 2
    assert all(chosen.isalnum() for chosen in ids)
    assert serving.inner.headers.getlist("x-request-id") == ids[1:]


async def test_a_priority_in_the_header_is_refused(
    serving: OuterApp, client: httpx.AsyncClient
) -> None:
    assert (await client.post(CHAT, headers={"x-vllm-priority": "0"})).status_code == 200
    assert (await client.post(CHAT, headers={"x-vllm-priority": "1"})).status_code == 400


async def test_refusals_are_logged_at_info_and_requests_at_debug(
    outer: OuterApp,
    client: httpx.AsyncClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outer.serve(SECRET)
    monkeypatch.setattr(logging.getLogger("orthrus_serving"), "propagate", True)
    caplog.set_level(logging.DEBUG, "orthrus_serving")
    key = {"authorization": f"Bearer {SECRET}"}
    body = {"input": PROMPT}
    await client.post(EMBEDDINGS, json=body, headers={**key, "x-request-id": "good"})
    await client.post(EMBEDDINGS, json=body, headers={"x-request-id": "keyless"})
    await client.post("/nothing", json=body, headers={"x-request-id": "lost"})
    logged = {json.loads(r.getMessage())["id"]: r for r in caplog.records}
    lines = {name: json.loads(record.getMessage()) for name, record in logged.items()}
    assert {name: record.levelname for name, record in logged.items()} == {
        "good": "DEBUG",
        "keyless": "INFO",
        "lost": "INFO",
    }
    assert lines["good"]["status"] == "ok"
    assert (lines["keyless"]["event"], lines["keyless"]["code"]) == ("refused", 401)
    assert PROMPT not in caplog.text
    assert SECRET not in caplog.text
