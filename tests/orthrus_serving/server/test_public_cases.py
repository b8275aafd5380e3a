"""Faults that users reported of servers of this kind, asked of a real replica."""

import math

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.orthrus_serving.server.replica_process import (
    BUDGET,
    MODEL_LENGTH,
    NAME,
    ReplicaProcess,
)
from tests.orthrus_serving.server.test_routes import NOT_SERVED, assert_error_form

pytestmark = pytest.mark.engine

TOKEN = 5


def embed(http: httpx.Client, given: object, **more: object) -> httpx.Response:
    return http.post("/v1/embeddings", json={"model": NAME, "input": given, **more})


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


def test_one_port_answers_both_tasks(http: httpx.Client) -> None:
    prompt = {"model": NAME, "prompt": "x", "max_tokens": 2}
    for _ in range(2):
        assert embed(http, "x").status_code == 200
        assert http.post("/v1/completions", json=prompt).status_code == 200


def test_each_input_has_one_flat_vector(http: httpx.Client) -> None:
    data = embed(http, ["one", "two three"]).json()["data"]
    assert len(data) == 2
    for item in data:
        assert all(isinstance(number, float) for number in item["embedding"])


@pytest.mark.parametrize("given", ["", [], [""], ["a", ""], [[]]])
def test_an_empty_input_is_refused(http: httpx.Client, given: object) -> None:
    reply = embed(http, given)
    assert reply.status_code == 400
    assert_error_form(reply)
    assert embed(http, "x").status_code == 200


@pytest.mark.parametrize("given", [[1, "a"], [1.5], [True], [[1, True]], [10**9], {"a": 1}])
def test_what_is_not_a_text_or_token_ids_is_refused(http: httpx.Client, given: object) -> None:
    reply = embed(http, given)
    assert reply.status_code == 400
    assert_error_form(reply)


def test_an_unknown_encoding_is_refused_by_name(http: httpx.Client) -> None:
    reply = embed(http, "x", encoding_format="md5")
    assert reply.status_code == 400
    assert "encoding_format" in reply.json()["error"]["param"]


def test_an_unknown_model_is_404_on_every_route(http: httpx.Client) -> None:
    bodies: dict[str, dict[str, object]] = {
        "/v1/embeddings": {"input": "x"},
        "/v1/completions": {"prompt": "x"},
        "/v1/chat/completions": {"messages": [{"role": "user", "content": "x"}]},
        "/tokenize": {"prompt": "x"},
    }
    for path, body in bodies.items():
        reply = http.post(path, json={"model": "nope", **body})
        assert reply.status_code == 404
        assert_error_form(reply)
        assert NAME in reply.json()["error"]["message"]


@pytest.mark.parametrize("path", NOT_SERVED)
def test_routes_of_vllm_outside_the_list_are_404(http: httpx.Client, path: str) -> None:
    assert http.post(path, json={}).status_code == 404


def test_a_body_that_is_not_json_is_refused_in_the_error_form(http: httpx.Client) -> None:
    for kind in ("application/json", "text/plain"):
        reply = http.post("/v1/embeddings", content=b"{bad", headers={"content-type": kind})
        assert reply.status_code == 400
        assert_error_form(reply)


def test_metrics_parse_and_count_by_unit(http: httpx.Client, replica: ReplicaProcess) -> None:
    name = "orthrus_scheduled_tokens_total"
    before = replica.metric(name, unit="embedding_chunk")
    assert embed(http, [[TOKEN] * 40]).status_code == 200
    replica.wait_metric(name, lambda tokens: tokens >= before + 40, unit="embedding_chunk")
    samples = [
        sample.value
        for family in text_string_to_metric_families(http.get("/metrics").text)
        if family.name.startswith("orthrus_")
        for sample in family.samples
    ]
    assert samples
    assert not any(math.isnan(value) for value in samples)
