from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from tests.orthrus_serving.server.outer_app import OuterApp


@pytest.fixture
def outer() -> OuterApp:
    return OuterApp()


@pytest_asyncio.fixture
async def client(outer: OuterApp) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(outer.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://replica") as client:
        yield client
