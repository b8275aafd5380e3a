"""Connections over real sockets."""

import asyncio
import json
import signal

import httpx

from tests.orthrus_serving.server.light_replica import EMBEDDINGS, LightReplica, light_replica


async def test_a_connection_is_kept_until_it_has_had_its_requests() -> None:
    async with light_replica("--max-connection-requests", "3") as replica:
        answers = await _one_connection(replica, requests=4)
        assert [answer.closes for answer in answers] == [False, False, True]


async def test_an_old_connection_ends_with_its_next_answer() -> None:
    async with light_replica("--max-connection-age", "0.3") as replica:
        young = await _one_connection(replica, requests=2)
        assert not any(answer.closes for answer in young)
        (old,) = await _one_connection(replica, requests=2, pause=0.4)
        assert old.closes
        assert old.status == 200


async def test_what_is_not_http_is_refused_in_the_error_form() -> None:
    async with light_replica() as replica:
        answer = await _raw(replica, b"nonsense\r\n\r\n")
        assert answer.status == 400
        assert answer.closes
        assert json.loads(answer.body)["error"]["code"] == 400


async def test_endless_headers_are_refused() -> None:
    async with light_replica() as replica:
        answer = await _raw(replica, b"GET / HTTP/1.1\r\nx: " + b"x" * 200_000)
        assert answer.status == 400
        assert "headers" in json.loads(answer.body)["error"]["message"]


async def test_an_announced_drain_serves_on_and_ends_connections() -> None:
    async with light_replica() as replica, httpx.AsyncClient(base_url=replica.url) as client:
        running = await replica.busy(client)
        replica.signal(signal.SIGUSR1)
        await replica.wait_status("/ready", 503)
        replica.engine.inner.may_answer.set()
        for answer in (await running, await client.post(EMBEDDINGS)):
            assert answer.status_code == 200
            assert answer.headers["connection"] == "close"
        assert (await client.get("/health")).status_code == 200
        assert "about to be stopped" in (await client.get("/ready")).json()["reason"]


async def test_a_stop_waits_for_running_requests_and_a_second_one_does_not() -> None:
    async with (
        light_replica("--drain-timeout", "60") as replica,
        httpx.AsyncClient(base_url=replica.url) as client,
    ):
        running = await replica.busy(client)
        replica.signal(signal.SIGTERM)
        await replica.wait_status("/ready", 503)
        assert not running.done()
        replica.signal(signal.SIGINT)
        assert (await running).status_code == 503
        assert await replica.exit_code() == 0


async def test_the_drain_timeout_ends_it() -> None:
    async with (
        light_replica("--drain-timeout", "0.2") as replica,
        httpx.AsyncClient(base_url=replica.url) as client,
    ):
        running = await replica.busy(client)
        replica.signal(signal.SIGTERM)
        assert (await running).status_code == 503
        assert await replica.exit_code() == 0


class _Answer:
    def __init__(self, head: bytes, body: bytes) -> None:
        self.status = int(head.split()[1])
        self.closes = b"connection: close" in head.lower()
        self.body = body


async def _one_connection(
    replica: LightReplica, requests: int, pause: float = 0.0
) -> list[_Answer]:
    """The answers to requests on one connection, until it ends."""
    host, port = replica.address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    answers: list[_Answer] = []
    async with asyncio.timeout(10):
        for _ in range(requests):
            await asyncio.sleep(pause)
            writer.write(b"GET /metrics HTTP/1.1\r\nhost: replica\r\n\r\n")
            answer = await _read(reader)
            if answer is None:
                break
            answers.append(answer)
        writer.close()
    return answers


async def _raw(replica: LightReplica, sent: bytes) -> _Answer:
    host, port = replica.address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    async with asyncio.timeout(10):
        writer.write(sent)
        answer = await _read(reader)
        writer.close()
    assert answer is not None
    return answer


async def _read(reader: asyncio.StreamReader) -> _Answer | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
    return _Answer(head, await reader.readexactly(int(length)))
