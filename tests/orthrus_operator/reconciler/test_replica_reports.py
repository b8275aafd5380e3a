"""What replicas say of their adapters, and what is made of those that say nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from orthrus_operator.builders.pod import PORT
from orthrus_operator.planner.adapter_state import AdapterReport
from orthrus_operator.reconciler.replica_reports import replica_reports

ADDRESS = "127.0.0.95"
LOADING = {"name": "a", "state": "loading", "message": "m", "serves": False}


def pod(ready: bool = True) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": "demo-1"},
        "status": {"podIP": ADDRESS, "conditions": conditions},
    }


@asynccontextmanager
async def answering(status: int, body: Any) -> AsyncIterator[None]:
    """A replica at ADDRESS that says this at /ready."""

    async def ready(_: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    application = web.Application()
    application.router.add_get("/ready", ready)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, ADDRESS, PORT).start()
    yield
    await runner.cleanup()


@pytest.mark.parametrize("status", [200, 503])
async def test_adapters_are_read_also_while_a_replica_waits_for_one(status: int) -> None:
    async with answering(status, {"adapters": [LOADING]}):
        [report] = await replica_reports([pod()])
    assert report.adapters == (AdapterReport("a", "loading", "m"),)


@pytest.mark.parametrize("body", [[], {}, {"adapters": [1]}, {"adapters": [{"name": "a"}]}])
async def test_what_is_not_of_the_right_form_is_no_report(body: Any) -> None:
    async with answering(200, body):
        [report] = await replica_reports([pod()])
    assert (report.pod, report.adapters) == ("demo-1", None)


async def test_a_pod_that_does_not_answer_is_named_and_one_that_is_not_ready_is_not_asked() -> None:
    [report] = await replica_reports([pod(), pod(ready=False)])
    assert (report.pod, report.adapters) == ("demo-1", None)
