"""Replicas that hang, lie or say too much spoil nothing for those that answer."""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from orthrus_operator.reconciler.asking_order import asking_order
from orthrus_operator.reconciler.replica_answers import Question, replica_answers
from orthrus_operator.reconciler.replica_scrapes import scrape

BACKLOG = 'orthrus_backlog_tokens{type="embedding"} 7.0\n'
BODIES = {
    "floods": b"#\n" * (2 * 2**20 + 1),
    "rambles": BACKLOG.encode() * 90_000,
    "goes-on": BACKLOG.encode().strip() + b" " * 2**20,
    "brackets": b"[" * 100_000,
    "compressed": gzip.compress(BACKLOG.encode()),
    "much-else": b"vllm:other 1.0\n" * 2**17 + BACKLOG.encode(),
}


class Replicas:
    """One server that is many replicas: the first element of a path is which."""

    def __init__(self) -> None:
        self.at_once = self.most_at_once = 0
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            return await self._answer(request.match_info["which"])
        finally:
            self.at_once -= 1

    async def _answer(self, which: str) -> web.StreamResponse:
        match which:
            case "hangs":
                await asyncio.sleep(30)
            case "elsewhere":
                raise web.HTTPFound("/works/metrics")
            case "fails":
                return web.Response(status=500, text=BACKLOG)
        await asyncio.sleep(0.01)
        headers = {"content-encoding": "gzip"} if which == "compressed" else None
        return web.Response(body=BODIES.get(which, BACKLOG.encode()), headers=headers)

    def addresses(self, *which: str) -> dict[str, str]:
        return {name: f"{self.url}/{name}" for name in which}


@pytest.fixture
async def replicas() -> AsyncIterator[Replicas]:
    served = Replicas()
    application = web.Application()
    application.router.add_get("/{which}/{path}", served.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield served
    await runner.cleanup()


async def test_who_answers_as_it_should_is_heard_and_nobody_else(replicas: Replicas) -> None:
    good = replicas.addresses("works", "much-else")
    bad = replicas.addresses("fails", "floods", "rambles", "goes-on", "compressed", "elsewhere")
    found = await scrape(good | bad | {"gone": "http://127.0.0.1:9"}, 10)
    assert {name: dict(sample.backlog_tokens) for name, sample in found.items()} == {
        name: {"embedding": 7.0} for name in good
    }


async def test_no_answer_keeps_the_event_loop_busy(replicas: Replicas) -> None:
    """The Lease and the probe are served by the same one."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    hostile = {"a": f"{replicas.url}/rambles", "b": f"{replicas.url}/floods"}
    assert await scrape(hostile, 10) == {}
    watching.cancel()
    # Parsing the whole of either takes seconds.
    assert longest < 0.5


async def test_all_of_them_together_take_no_longer_than_allowed(replicas: Replicas) -> None:
    started = time.monotonic()
    found = await scrape(replicas.addresses("works", "hangs"), 1)
    assert set(found) == {"works"}
    assert time.monotonic() - started < 2.5


async def test_only_so_many_are_asked_at_once(replicas: Replicas) -> None:
    names = [f"works-{number}" for number in range(200)]
    assert len(await scrape(replicas.addresses(*names), 30)) == 200
    assert replicas.most_at_once <= 32


async def test_nobody_is_asked_when_there_is_nobody() -> None:
    assert await scrape({}, 10) == {}


async def test_what_is_not_of_the_right_form_is_no_answer(replicas: Replicas) -> None:
    def read(_: int, body: bytes) -> str:
        raise LookupError(body)

    question = Question("/ready", most_bytes=1000)
    assert await replica_answers(replicas.addresses("works"), question, read, 10) == {}


async def test_nothing_but_brackets_is_no_answer(replicas: Replicas) -> None:
    def read(_: int, body: bytes) -> object:
        return json.loads(body)

    question = Question("/ready", most_bytes=2**20)
    assert await replica_answers(replicas.addresses("brackets"), question, read, 10) == {}


async def test_however_many_are_silent_who_answered_before_is_heard(replicas: Replicas) -> None:
    """They come first in every list, and one look has time for a third of them."""
    silent = {f"silent-{number:02}": f"{replicas.url}/hangs" for number in range(90)}
    good = {f"works-{number}": f"{replicas.url}/works" for number in range(3)}
    addresses = silent | good
    order = asking_order(sorted(addresses), set(good))
    assert set(await scrape({name: addresses[name] for name in order}, 2)) == set(good)


def test_who_has_not_answered_comes_first_among_those_at_times() -> None:
    names = [f"silent-{number}" for number in range(20)]
    orders = [asking_order(["works", *names], {"works"}) for _ in range(2000)]
    assert all(sorted(order) == sorted(["works", *names]) for order in orders)
    assert {order[0] for order in orders} == {"works"}
    assert {order[1] for order in orders} == set(names)
