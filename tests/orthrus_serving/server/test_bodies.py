"""The limit on the size of a request body, over real sockets."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from tests.orthrus_serving.server.light_replica import EMBEDDINGS, LightReplica, light_replica
from tests.orthrus_serving.server.test_routes import assert_error_form

LIMIT = 300_000
"""Above what a socket buffers: the server has to read it in pieces."""


@pytest_asyncio.fixture
async def replica() -> AsyncIterator[LightReplica]:
    async with light_replica("--max-body-bytes", str(LIMIT)) as replica:
        yield replica


async def _in_chunks(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 10_000):
        yield b"x" * min(10_000, size - start)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_up_to_the_limit_arrives_whole(replica: LightReplica, chunked: bool) -> None:
    content = _in_chunks(LIMIT) if chunked else b"x" * LIMIT
    async with httpx.AsyncClient(base_url=replica.url) as client:
        assert (await client.post(EMBEDDINGS, content=content)).status_code == 200
    assert len(replica.engine.inner.body) == LIMIT


@pytest.mark.parametrize("size", [LIMIT + 1, 20 * LIMIT])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_larger_body_is_413_and_the_client_gets_to_read_it(
    replica: LightReplica, size: int, chunked: bool
) -> None:
    content = _in_chunks(size) if chunked else b"x" * size
    async with httpx.AsyncClient(base_url=replica.url) as client:
        reply = await client.post(EMBEDDINGS, content=content)
        assert reply.status_code == 413
        assert str(LIMIT) in reply.json()["error"]["message"]
        assert_error_form(reply)
        assert (await client.post(EMBEDDINGS, content=b"x")).status_code == 200
    assert replica.engine.inner.body == b"x"
