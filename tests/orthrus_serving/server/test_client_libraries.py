"""LangChain's and LlamaIndex's OpenAI classes see what the official client sees."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.client_libraries import client_python
from tests.orthrus_serving.server.asking import ANSWER_TOKENS, QUESTION, embed, vectors
from tests.orthrus_serving.server.replica_process import NAME, ReplicaProcess

pytestmark = pytest.mark.engine

SCRIPT = Path(__file__).parent / "ask_with_libraries.py"
TEXTS = ["a cat", "a longer text about a dog"]


@pytest.fixture(scope="module")
def seen(replica: ReplicaProcess) -> dict[str, Any]:
    url, question = f"{replica.url}/v1", (QUESTION, str(ANSWER_TOKENS))
    command: list[str | Path] = [client_python(), SCRIPT, url, NAME, *question]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


@pytest.mark.parametrize("library", ["langchain", "llama_index"])
def test_a_library_gets_the_same_vectors_and_answers(
    seen: dict[str, Any], http: httpx.Client, answer: str, library: str
) -> None:
    answers = seen[library]
    expected = vectors(embed(http, TEXTS))
    for vector, other in zip(answers["documents"], expected, strict=True):
        assert vector == pytest.approx(other, abs=1e-4)
    assert answers["query"] == pytest.approx(expected[0], abs=1e-4)
    assert answers["answer"] == answer
    assert answers["stream"] == answer
