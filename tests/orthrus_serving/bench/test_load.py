"""How requests are sent, against a real server."""

import time
from collections.abc import Iterator

import pytest

from orthrus_serving.bench.load.load import (
    CountedClients,
    DrawnArrivals,
    TimedClients,
    Trace,
)
from orthrus_serving.bench.load.record import UNFINISHED
from orthrus_serving.bench.load.run import Servers, UnusableServerError, run
from orthrus_serving.bench.work.mix import Unit
from orthrus_serving.bench.work.phases import parse_phases
from orthrus_serving.bench.work.plan import Planned
from orthrus_serving.bench.work.request import Request
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.bench.known_server import KnownServer, known_server
from tests.orthrus_serving.bench.test_work import drawn

EMBEDDING = Request(Task.EMBEDDING, [1, 2, 3])
LATE = 0.5


def servers(server: KnownServer) -> Servers:
    return Servers({task: [server.url] for task in Task})


def workload(text: str) -> Workload:
    return Workload(drawn(output="2"), parse_phases(text), Unit.REQUESTS, 0)


async def test_an_open_loop_counts_the_time_that_requests_wait_for_their_turn() -> None:
    """Ten requests, due every 10 ms, at a server that takes 50 ms for each, one at a time: the last
    one is answered after 500 ms, 410 ms after it was due. A client that waited would see 50."""
    plan = [Planned(0.01 * number, EMBEDDING) for number in range(10)]
    async with known_server(wait=0.05, at_once=1) as server:
        outcomes = await run(servers(server), Trace(plan, drain=30))
    latencies = [outcome.latency for outcome in outcomes]
    assert len(latencies) == 10
    assert max(latencies) >= 0.40
    assert sorted(latencies) == latencies


async def test_a_client_that_is_late_itself_hides_nothing() -> None:
    def plan() -> Iterator[Planned]:
        yield Planned(0.0, EMBEDDING)
        time.sleep(0.4)
        yield Planned(0.1, EMBEDDING)

    load = DrawnArrivals(workload=workload("1@1:0"), plan=plan, warm_up=0.0, drain=30)
    async with known_server() as server:
        outcomes = await run(servers(server), load)
    late = outcomes[-1]
    assert late.planned == 0.1
    assert late.sent >= 0.4
    assert late.latency >= 0.3


async def test_a_request_without_an_answer_in_time_is_unfinished() -> None:
    load = Trace([Planned(0.0, EMBEDDING)], drain=0.2)
    async with known_server(wait=30.0, fine=1) as server:
        [outcome] = await run(servers(server), load)
    assert outcome.error == UNFINISHED
    assert 0.2 <= outcome.latency < 30


async def test_a_closed_loop_keeps_its_clients_busy_and_no_more() -> None:
    load = TimedClients(workload=workload("0.5@5:5"), clients=3, warm_up=0.1)
    async with known_server(wait=0.02) as server:
        outcomes = await run(servers(server), load)
    assert server.most_open == 3
    assert len(outcomes) > 20
    assert max(outcome.ended for outcome in outcomes) < 0.6 + LATE
    assert all(outcome.planned == pytest.approx(outcome.sent, abs=0.1) for outcome in outcomes)


async def test_a_counted_loop_sends_exactly_its_requests() -> None:
    async with known_server() as server:
        outcomes = await run(servers(server), CountedClients(workload("1@5:5"), 4, requests=40))
    assert len(outcomes) == 40
    assert sum(outcome.task is Task.GENERATION for outcome in outcomes) == 20


async def test_a_closed_loop_follows_its_phases() -> None:
    load = TimedClients(workload=workload("0.4@0:1,0.4@1:0"), clients=2, warm_up=0.0)
    async with known_server(wait=0.01) as server:
        outcomes = await run(servers(server), load)
    early, late = (
        {o.task for o in outcomes if o.sent < 0.4},
        {o.task for o in outcomes if o.sent > 0.4},
    )
    assert early == {Task.GENERATION}
    assert late == {Task.EMBEDDING}


async def test_clients_pause_when_a_server_refuses_at_once() -> None:
    load = TimedClients(workload=workload("0.5@1:0"), clients=2, warm_up=0.0)
    async with known_server(failure="status", fine=1) as server:
        outcomes = await run(servers(server), load)
    assert {outcome.error for outcome in outcomes} == {"HTTP 429"}
    assert len(outcomes) <= 2 * 6


async def test_a_server_that_cannot_be_measured_is_told_before_the_run() -> None:
    load = CountedClients(workload("1@1:0"), 1, 1)
    async with known_server(failure="status") as server:
        with pytest.raises(UnusableServerError, match="HTTP 429"):
            await run(servers(server), load)
    with pytest.raises(UnusableServerError, match="does not answer"):
        await run(Servers({Task.EMBEDDING: ["http://127.0.0.1:9"]}), load)


async def test_first_requests_are_not_measured() -> None:
    async with known_server() as server:
        outcomes = await run(servers(server), Trace([Planned(0.0, EMBEDDING)], drain=5))
    assert len(outcomes) == 1
    assert len(server.requests) == 2
