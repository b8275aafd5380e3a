from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from openai import OpenAI

from tests.orthrus_serving.server.asking import ANSWER_TOKENS, QUESTION
from tests.orthrus_serving.server.first_layers import chat_answer, first_layers
from tests.orthrus_serving.server.outer_app import OuterApp
from tests.orthrus_serving.server.replica_adapters import (
    ReplicaAdapters,
    make_replica_adapters,
)
from tests.orthrus_serving.server.replica_process import ReplicaProcess, replica_process

LAYERS = 4


@pytest.fixture
def outer() -> OuterApp:
    return OuterApp()


@pytest_asyncio.fixture
async def client(outer: OuterApp) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(outer.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://replica") as client:
        yield client


@pytest.fixture(scope="session")
def sample_model(sample_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its first layers: HTTP is the same for a model that says nonsense, and faster."""
    return first_layers(sample_model, LAYERS, tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def answer(sample_model: Path) -> str:
    """What the model says to `QUESTION` in `ANSWER_TOKENS` tokens."""
    return chat_answer(sample_model, QUESTION, ANSWER_TOKENS)


@pytest.fixture(scope="session")
def adapters(sample_model: Path, tmp_path_factory: pytest.TempPathFactory) -> ReplicaAdapters:
    """What the shared replica serves beside the sample model."""
    return make_replica_adapters(sample_model, tmp_path_factory.mktemp("adapters"))


@pytest.fixture(scope="session")
def replica(
    sample_model: Path, adapters: ReplicaAdapters, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReplicaProcess]:
    """One replica for all tests that only send it requests."""
    folder = tmp_path_factory.mktemp("replica")
    with replica_process(folder, *adapters.flags, model=str(sample_model)) as replica:
        replica.wait_ready()
        yield replica


@pytest.fixture
def openai_client(replica: ReplicaProcess) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{replica.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def http(replica: ReplicaProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=replica.url, timeout=300) as client:
        yield client
