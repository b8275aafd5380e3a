"""Whatever the schema of our routes allows, and does not: no 5xx, and no dead engine."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok

from tests.orthrus_serving.server.asking import complete, embed
from tests.orthrus_serving.server.replica_process import NAME, ReplicaProcess
from tests.orthrus_serving.server.served_schema import served_schema
from tests.orthrus_serving.server.test_routes import assert_error_form

pytestmark = pytest.mark.engine

LONGEST_GENERATION = 4
MOST_SAMPLES = 2
ASK_SECONDS = 120


@pytest.mark.timeout(900)
def test_a_few_requests_of_every_kind(replica: ReplicaProcess) -> None:
    _fuzz(replica, examples=16)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_thousands_of_requests(replica: ReplicaProcess) -> None:
    assert _fuzz(replica, examples=270) >= 2000


def _fuzz(replica: ReplicaProcess, examples: int) -> int:
    """Number of requests sent: `examples` of valid and of invalid ones to each operation."""
    sent = 0
    with httpx.Client(base_url=replica.url, timeout=ASK_SECONDS) as http:
        for operation, mode in _operations():

            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy(generation_mode=mode))
            def ask(case: Case[Any]) -> None:
                nonlocal sent
                sent += 1
                _make_worthwhile(case)
                reply = case.call(base_url=replica.url, timeout=ASK_SECONDS)
                refused = reply.status_code in (429, 503) and "retry-after" in reply.headers
                assert reply.status_code < 500 or refused, reply.text
                if reply.status_code >= 400 and case.method != "HEAD":
                    assert_error_form(httpx.Response(reply.status_code, content=reply.content))

            ask()
            assert embed(http, "still there").status_code == 200
            assert complete(http, "still there").status_code == 200
    return sent


def _operations() -> Iterator[tuple[Any, GenerationMode]]:
    schema = schemathesis.openapi.from_dict(served_schema())
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        yield operation, GenerationMode.POSITIVE
        if operation.method.upper() == "POST":
            yield operation, GenerationMode.NEGATIVE


def _make_worthwhile(case: Case[Any]) -> None:
    """Aims at the served model, most of the time, and keeps an answer from taking minutes."""
    body = case.body
    if not isinstance(body, dict):
        return
    if body.get("model") and len(str(body)) % 8:
        body["model"] = NAME
    for field, most in (
        ("max_tokens", LONGEST_GENERATION),
        ("max_completion_tokens", LONGEST_GENERATION),
        ("n", MOST_SAMPLES),
    ):
        value = body.get(field)
        if isinstance(value, int) and value > most:
            body[field] = most
    if "messages" in body and not body.get("max_completion_tokens"):
        body["max_tokens"] = LONGEST_GENERATION
