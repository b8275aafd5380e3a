"""What the client measures, against a real server whose delays are known."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from orthrus_serving.bench.client.addresses import Addresses, Target, without_v1
from orthrus_serving.bench.client.client import Client, open_session, served_model
from orthrus_serving.bench.client.events import EventLines
from orthrus_serving.bench.load.stopwatch import Stopwatch
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.bench.known_server import MODEL, VECTOR, known_server

EMBEDDING = Request(Task.EMBEDDING, [1, 2, 3])
GENERATION = Request(Task.GENERATION, [1, 2, 3], max_tokens=4)
LATE = 0.5
"""A busy machine may be so much later than asked, never earlier."""


@asynccontextmanager
async def client(
    *urls: str, patience: float = 30.0, key: str | None = None
) -> AsyncIterator[Client]:
    target = Target(urls, MODEL)
    async with open_session(patience, key) as session:
        addresses = Addresses(dict.fromkeys(Task, target))
        yield Client(session, addresses, Stopwatch(), {"ignore_eos": True})


async def test_the_delay_of_an_embedding_comes_out() -> None:
    async with known_server(wait=0.2) as server, client(server.url) as sender:
        reply = await sender.send(EMBEDDING, planned=0.0)
    outcome = reply.outcome
    assert outcome.error is None
    assert 0.2 <= outcome.latency < 0.2 + LATE
    assert outcome.prompt_tokens == 3
    assert outcome.first_token is None
    assert list(reply.vector) == VECTOR


@pytest.mark.parametrize("prompt", [[1, 2, 3], [{"role": "user", "content": "hi"}]])
async def test_the_delays_of_a_stream_come_out(prompt: object) -> None:
    request = Request(Task.GENERATION, prompt, max_tokens=4)  # type: ignore[arg-type]
    async with known_server(wait=0.2, gap=0.05) as server, client(server.url) as sender:
        reply = await sender.send(request, planned=0.0)
    outcome = reply.outcome
    assert outcome.error is None
    assert outcome.first_token is not None
    assert 0.2 <= outcome.first_token < 0.2 + LATE
    assert len(outcome.gaps) == 3
    assert all(0.04 <= gap < 0.05 + LATE for gap in outcome.gaps)
    assert 0.35 <= outcome.latency < 0.35 + LATE
    assert outcome.seconds_per_token == pytest.approx(sum(outcome.gaps) / 3)
    assert (outcome.prompt_tokens, outcome.output_tokens) == (7, 4)
    assert reply.text == "t0 t1 t2 t3 "


async def test_latency_counts_from_the_planned_time() -> None:
    async with known_server() as server, client(server.url) as sender:
        await asyncio.sleep(0.2)
        outcome = (await sender.send(GENERATION, planned=0.0)).outcome
    assert outcome.sent >= 0.2
    assert outcome.latency >= 0.2
    assert outcome.first_token is not None
    assert outcome.first_token >= 0.2


@pytest.mark.parametrize(
    ("failure", "request_", "kind"),
    [
        ("status", EMBEDDING, "HTTP 429"),
        ("status", GENERATION, "HTTP 503"),
        ("cut", GENERATION, "stream cut"),
        ("error message", GENERATION, "error in the stream"),
        ("malformed", EMBEDDING, "malformed answer"),
    ],
)
async def test_a_failure_is_an_outcome_with_its_kind(
    failure: str, request_: Request, kind: str
) -> None:
    async with known_server(failure=failure) as server, client(server.url) as sender:
        outcome = (await sender.send(request_, planned=0.0)).outcome
    assert outcome.error == kind


async def test_a_request_that_takes_too_long_is_a_timeout() -> None:
    async with known_server(wait=5) as server, client(server.url, patience=0.2) as sender:
        outcome = (await sender.send(EMBEDDING, planned=0.0)).outcome
    assert outcome.error == "timeout"
    assert 0.2 <= outcome.latency < 5


async def test_a_server_that_is_not_there_is_a_failure_of_the_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with client(f"http://127.0.0.1:{unused.getsockname()[1]}") as sender:
            outcome = (await sender.send(EMBEDDING, planned=0.0)).outcome
    assert outcome.error == "ClientConnectorError"


async def test_what_is_sent_is_the_openai_api() -> None:
    async with known_server() as server, client(server.url, key="secret") as sender:
        await sender.send(EMBEDDING, planned=0.0)
        await sender.send(GENERATION, planned=0.0)
    (embeddings, embedding), (completions, completion) = server.requests
    assert embeddings == "/v1/embeddings"
    assert embedding == {"model": MODEL, "input": [1, 2, 3]}
    assert completions == "/v1/completions"
    assert completion["stream_options"] == {"include_usage": True}
    assert completion["ignore_eos"] is True
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer secret"}


async def test_servers_take_turns() -> None:
    async with known_server() as one, known_server() as two, client(one.url, two.url) as sender:
        for _ in range(4):
            await sender.send(EMBEDDING, planned=0.0)
    assert len(one.requests) == len(two.requests) == 2


async def test_the_model_is_asked_for() -> None:
    async with known_server() as server, open_session(5, None) as session:
        assert await served_model(session, server.url) == MODEL
        with pytest.raises(LookupError, match="404"):
            await served_model(session, server.url + "/nowhere")


def test_an_address_may_end_in_v1() -> None:
    assert without_v1("http://host/v1/") == without_v1("http://host") == "http://host"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_messages_are_found_however_they_are_cut(size: int) -> None:
    stream = (
        b'data: {"a": 1}\r\n\r\n: a comment\n\nevent: x\ndata:{"b":"\xc3\xa9"}\n\ndata: [DONE]\n\n'
    )
    lines = EventLines()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    found = [data for piece in pieces for data in lines.feed(piece)]
    assert found == [b'{"a": 1}', b'{"b":"\xc3\xa9"}', b"[DONE]"]
