"""What replicas say of their adapters, and what is made of those that say nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport
from orthrus_operator.planner.replica_sample import ReplicaSample
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.replica_reports import Adapters, adapter_reports, reports_of
from orthrus_operator.reconciler.serving_replicas import ServingReplica

HOST, PORT = "127.0.0.95", 8000
KEY = ObjectKey("models", "demo")
LOADING = {"name": "a", "declaration": "0123", "state": "loading", "message": "m", "serves": False}
LOADED = (AdapterReport("a", "0123", "loaded"),)


async def ask() -> dict[str, Adapters]:
    return await adapter_reports({"uid": f"http://{HOST}:{PORT}"}, within=5)


@asynccontextmanager
async def answering(status: int, body: Any) -> AsyncIterator[None]:
    """A replica that says this at /ready."""

    async def ready(_: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    application = web.Application()
    application.router.add_get("/ready", ready)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, PORT).start()
    yield
    await runner.cleanup()


@pytest.mark.parametrize("status", [200, 503])
async def test_adapters_are_read_also_while_a_replica_waits_for_one(status: int) -> None:
    async with answering(status, {"adapters": [LOADING]}):
        assert await ask() == {"uid": (AdapterReport("a", "0123", "loading", "m"),)}


@pytest.mark.parametrize("body", [[], {}, {"adapters": [1]}, {"adapters": [{"name": "a"}]}])
async def test_what_is_not_of_the_right_form_is_no_answer(body: Any) -> None:
    async with answering(200, body):
        assert await ask() == {}


async def test_who_does_not_answer_is_left_out() -> None:
    assert await ask() == {}


def replica(*, has_adapters: bool) -> dict[str, ServingReplica]:
    return {"uid": ServingReplica("demo-1", KEY, "http://x", has_adapters)}


def test_a_replica_that_is_silent_said_what_it_said_before() -> None:
    sample = {"uid": ReplicaSample(embedding_spaces={"m": "1"})}
    first = reports_of(replica(has_adapters=True), sample, {"uid": LOADED}, {})
    assert first == {KEY: {"uid": ReplicaReport("demo-1", LOADED, {"m": "1"})}}
    assert reports_of(replica(has_adapters=True), {}, {}, first) == first
    assert reports_of(replica(has_adapters=True), {"uid": ReplicaSample()}, {}, first) == first
    assert reports_of({}, {}, {}, first) == {}


def test_one_that_never_answered_is_known_to_have_been_asked() -> None:
    told = reports_of(replica(has_adapters=True), {}, {}, {})
    assert told == {KEY: {"uid": ReplicaReport("demo-1", None)}}


def test_there_is_no_report_of_one_that_has_nothing_to_tell() -> None:
    assert reports_of(replica(has_adapters=False), {"uid": ReplicaSample()}, {}, {}) == {}
