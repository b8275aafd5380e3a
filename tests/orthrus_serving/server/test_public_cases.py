"""Faults that users reported of servers of this kind, asked of a real replica."""

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.orthrus_serving.server.asking import (
    TOKEN,
    chat,
    complete,
    embed,
    token_ids,
    vectors,
)
from tests.orthrus_serving.server.replica_process import (
    ALIAS,
    BUDGET,
    CHUNK,
    MODEL_LENGTH,
    NAME,
    ReplicaProcess,
)
from tests.orthrus_serving.server.test_routes import NOT_SERVED, assert_error_form

pytestmark = pytest.mark.engine


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


@pytest.mark.parametrize("given", ["", [], [""], ["a", ""], [[]]])
def test_an_empty_prompt_is_refused(http: httpx.Client, given: object) -> None:
    for stream in (False, True):
        reply = complete(http, given, stream=stream)
        assert reply.status_code == 400
        assert_error_form(reply)


@pytest.mark.parametrize("given", [[1, "a"], [1.5], [True], [[1, True]], [10**9], {"a": 1}])
@pytest.mark.parametrize("ask", [embed, complete])
def test_what_is_not_a_text_or_token_ids_is_refused(
    http: httpx.Client, ask: Callable[[httpx.Client, object], httpx.Response], given: object
) -> None:
    reply = ask(http, given)
    assert reply.status_code == 400
    assert_error_form(reply)


def test_lists_of_mixed_lengths_at_once(http: httpx.Client) -> None:
    """They cross chunks and steps in every way there is."""
    lengths = [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, BUDGET, BUDGET + 1]
    inputs = [token_ids(length) for length in [*lengths, MODEL_LENGTH]]
    alone = [vectors(embed(http, [one]))[0] for one in inputs]
    with ThreadPoolExecutor(4) as pool:
        for given in pool.map(lambda _: vectors(embed(http, inputs)), range(4)):
            for expected, vector in zip(alone, given, strict=True):
                assert vector == pytest.approx(expected, abs=1e-4)


def test_a_long_list_keeps_its_order_and_adds_up(http: httpx.Client) -> None:
    lengths = [(7 * i) % 41 + 1 for i in range(64)]
    reply = embed(http, [token_ids(length) for length in lengths])
    assert [item["index"] for item in reply.json()["data"]] == list(range(64))
    usage = reply.json()["usage"]
    assert usage["prompt_tokens"] == usage["total_tokens"] == sum(lengths)
    assert not usage.get("completion_tokens")
    for index in (0, 31, 63):
        (alone,) = vectors(embed(http, [token_ids(lengths[index])]))
        assert vectors(reply)[index] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("ask", [embed, complete])
def test_too_many_inputs_are_refused_by_number(
    http: httpx.Client, ask: Callable[[httpx.Client, object], httpx.Response]
) -> None:
    reply = ask(http, ["a"] * 2049)
    assert reply.status_code == 400
    assert "2049" in reply.json()["error"]["message"]
    assert_error_form(reply)


@pytest.mark.parametrize("ask", [complete, chat])
def test_fewer_than_one_sample_is_refused(
    http: httpx.Client, ask: Callable[..., httpx.Response]
) -> None:
    for n in (0, -(10**6)):
        reply = ask(http, "x", n=n)
        assert reply.status_code == 400
        assert_error_form(reply)


@pytest.mark.parametrize("ask", [embed, complete, chat])
def test_a_priority_is_refused_by_name(
    http: httpx.Client, ask: Callable[..., httpx.Response]
) -> None:
    for more in ({}, {"n": 2}, {"use_beam_search": True, "n": 2}, {"stream": True}):
        reply = ask(http, "x", priority=1, **more)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == "priority"
        assert_error_form(reply)


@pytest.mark.parametrize("ask", [complete, chat])
def test_beam_search_is_refused_by_name(
    http: httpx.Client, ask: Callable[..., httpx.Response]
) -> None:
    """Each token of it sends every beam to the engine as a new prompt, which nothing counts."""
    for n in (1, 4):
        reply = ask(http, "x", use_beam_search=True, n=n)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == "use_beam_search"
        assert_error_form(reply)
    assert ask(http, "x", use_beam_search=False).status_code == 200


@pytest.mark.parametrize("ask", [embed, complete, chat])
def test_unknown_fields_are_ignored(http: httpx.Client, ask: Callable[..., httpx.Response]) -> None:
    assert ask(http, "x", user="someone", nonsense={"a": [1]}).status_code == 200


def test_a_vector_without_normalisation_is_a_multiple_of_the_other(http: httpx.Client) -> None:
    unit, raw = (vectors(embed(http, "a cat", use_activation=asked))[0] for asked in (True, False))
    length = math.sqrt(sum(x * x for x in raw))
    assert length > 1.5
    assert [x / length for x in raw] == pytest.approx(unit, abs=1e-5)


@pytest.mark.parametrize("ask", [embed, complete, chat])
def test_the_answer_names_the_model_as_it_was_asked_for(
    http: httpx.Client, ask: Callable[..., httpx.Response]
) -> None:
    for name in (NAME, ALIAS):
        assert ask(http, "x", model=name).json()["model"] == name


def test_a_stream_ends_with_the_usage_of_all_choices_only_when_asked(http: httpx.Client) -> None:
    options = {"stream": True, "n": 2, "max_tokens": 3, "ignore_eos": True, "temperature": 1}
    for ask in (complete, chat):
        with_usage = _events(ask(http, "x", stream_options={"include_usage": True}, **options))
        *chunks, last = with_usage
        assert last["choices"] == []
        assert last["usage"]["completion_tokens"] == 6
        assert not any(chunk.get("usage") for chunk in chunks)
        assert not any(chunk.get("usage") for chunk in _events(ask(http, "x", **options)))
        assert ask(http, "x", stream_options={"include_usage": True}).status_code == 400


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -1}, {"n": 2}, {"logprobs": 10_000}, {"top_p": 7}, {"prompt": [10**9]}],
)
def test_a_stream_that_cannot_be_is_refused_before_it_begins(
    http: httpx.Client, wrong: dict[str, object]
) -> None:
    for stream in (False, True):
        reply = complete(http, **{"prompt": "x", **wrong}, stream=stream)
        assert reply.status_code == 400
        assert_error_form(reply)


def test_echo_without_generation_gives_the_logprobs_of_thetoken_ids(http: httpx.Client) -> None:
    reply = complete(http, token_ids(4), max_tokens=0, echo=True, logprobs=1)
    (choice,) = reply.json()["choices"]
    assert len(choice["logprobs"]["token_logprobs"]) == 4
    assert choice["logprobs"]["token_logprobs"][0] is None


def test_requests_are_counted_by_type_and_model(
    http: httpx.Client, replica: ReplicaProcess
) -> None:
    def count(task: str, model: str, status: str) -> float:
        return replica.metric("orthrus_requests_total", type=task, model=model, status=status)

    def counts() -> list[float]:
        return [
            count("embedding", NAME, "ok"),
            count("generation", ALIAS, "ok"),
            count("generation", "unknown", "client_error"),
            count("embedding", NAME, "client_error"),
        ]

    before = counts()
    first = replica.metric(
        "orthrus_time_to_first_token_seconds_count", type="generation", model=ALIAS
    )
    for _ in range(3):
        assert embed(http, "x").status_code == 200
    for _ in range(2):
        assert complete(http, "x", model=ALIAS).status_code == 200
    assert chat(http, "x", model="nope").status_code == 404
    assert embed(http, "").status_code == 400
    assert [now - then for now, then in zip(counts(), before, strict=True)] == [3, 2, 1, 1]
    assert (
        replica.metric("orthrus_time_to_first_token_seconds_count", type="generation", model=ALIAS)
        == first + 2
    )


@pytest.mark.parametrize("ask", [embed, complete, chat])
def test_a_request_id_is_echoed_and_names_the_answer(
    http: httpx.Client, ask: Callable[..., httpx.Response]
) -> None:
    http.headers["x-request-id"] = "mine-1"
    good, bad = ask(http, "x"), ask(http, "x", model="nope")
    for reply in (good, bad):
        assert reply.headers.get_list("x-request-id") == ["mine-1"]
    assert "mine-1" in good.json()["id"]


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


@pytest.mark.parametrize("path", [p for p in NOT_SERVED if "lora" not in p])
def test_routes_of_vllm_outside_the_list_are_404(http: httpx.Client, path: str) -> None:
    assert http.post(path, json={}).status_code == 404


def test_a_body_that_is_not_json_is_refused_in_the_error_form(http: httpx.Client) -> None:
    for kind in ("application/json", "text/plain"):
        reply = http.post("/v1/embeddings", content=b"{bad", headers={"content-type": kind})
        assert reply.status_code == 400
        assert_error_form(reply)


def test_a_body_that_nests_too_deep_is_refused_in_the_error_form(http: httpx.Client) -> None:
    deep = b'{"input": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    headers = {"content-type": "application/json"}
    for path in ("/v1/embeddings", "/v1/completions", "/tokenize"):
        reply = http.post(path, content=deep, headers=headers)
        assert reply.status_code == 400
        assert_error_form(reply)


def test_metrics_parse_and_count_by_unit(http: httpx.Client, replica: ReplicaProcess) -> None:
    name = "orthrus_scheduled_tokens_total"
    before = replica.metric(name, unit="embedding_chunk")
    assert embed(http, [[TOKEN] * 40]).status_code == 200
    replica.wait_metric(name, lambda tokens: tokens >= before + 40, unit="embedding_chunk")
    families = [
        family
        for family in text_string_to_metric_families(http.get("/metrics").text)
        if family.name.startswith("orthrus_")
    ]
    samples = [sample.value for family in families for sample in family.samples]
    assert samples
    assert not any(math.isnan(value) for value in samples)


def _events(reply: httpx.Response) -> list[dict[str, Any]]:
    """The chunks of a stream, which ends as it should."""
    lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]
