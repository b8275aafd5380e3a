"""How requests are sent, against a real server."""

import re
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from orthrus_serving.bench.load.clients import ClientSet
from orthrus_serving.bench.load.load import (
    CountedClients,
    DrawnArrivals,
    TimedClients,
    Trace,
)
from orthrus_serving.bench.load.record import UNFINISHED
from orthrus_serving.bench.load.run import Servers, UnusableServerError, run
from orthrus_serving.bench.load.steady import Bounds
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


def timed(text: str, clients: int, **bounds: float) -> TimedClients:
    """A closed loop that needs no more answers than it gets, unless `bounds` say so."""
    parsed = workload(text)
    asked = {
        "warm_up": 0.0,
        "warm_up_most": 10.0,
        "window": parsed.seconds,
        "window_most": parsed.seconds,
        "answers": 0,
    } | bounds
    return TimedClients(sets=[ClientSet(clients, parsed)], bounds=Bounds(**asked))  # type: ignore[arg-type]


async def test_an_open_loop_counts_the_time_that_requests_wait_for_their_turn() -> None:
    """Ten requests, due every 10 ms, at a server that takes 50 ms for each, one at a time: the last
    one is answered after 500 ms, 410 ms after it was due. A client that waited would see 50."""
    plan = [Planned(0.01 * number, EMBEDDING) for number in range(10)]
    async with known_server(wait=0.05, at_once=1) as server:
        outcomes = await run(servers(server), Trace(plan, drain=30))
    answered = sorted(outcome.planned + outcome.latency for outcome in outcomes)
    assert len(answered) == 10
    assert all(at >= 0.049 * number for number, at in enumerate(answered, start=1))
    assert max(outcome.latency for outcome in outcomes) >= 0.40


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
    load = timed("0.5@5:5", clients=3)
    async with known_server(wait=0.02) as server:
        outcomes = await run(servers(server), load)
    assert server.most_open == 3
    assert len(outcomes) > 20
    assert max(outcome.ended for outcome in outcomes) < load.windows(0.0)[0].end + LATE
    assert all(outcome.planned == pytest.approx(outcome.sent, abs=0.1) for outcome in outcomes)


async def test_a_load_is_warm_when_slow_requests_have_ended_twice() -> None:
    """Streams of 0.3 s: all that is measured was sent when each client had answered once."""
    load = timed("0.5@5:5", clients=8)
    async with known_server(wait=0.001, gap=0.3) as server:
        outcomes = await run(servers(server), load)
    [window] = load.windows(0.0)
    assert window.start >= 0.6
    assert not load.notes  # the bound was not needed
    measured = [outcome for outcome in outcomes if window.holds(outcome.ended)]
    assert min(outcome.sent for outcome in measured) >= 0.3


async def test_a_warm_up_without_end_is_cut_and_said_so() -> None:
    load = timed("0.2@1:0", clients=2, warm_up_most=0.3)
    async with known_server(wait=30.0, fine=1) as server:
        await run(servers(server), load)
    assert load.windows(0.0)[0].start == pytest.approx(0.3, abs=LATE)
    assert (
        load.notes[0] == "the warm-up ended at its bound of 0.3 s: 2 clients waited in turn 1 of 2"
    )


async def test_a_window_is_extended_by_whole_lengths_until_there_are_answers_enough() -> None:
    load = timed("0.2@9:1", clients=2, window_most=20.0, answers=5)
    async with known_server(wait=0.02) as server:
        outcomes = await run(servers(server), load)
    [window] = load.windows(0.0)
    answered = Counter(o.task for o in outcomes if window.holds(o.ended))
    assert answered[Task.GENERATION] >= 5
    assert window.seconds > 0.2
    assert window.seconds / 0.2 == pytest.approx(round(window.seconds / 0.2))
    assert not load.notes


async def test_a_window_with_too_few_answers_says_so() -> None:
    load = timed("0.2@9:1", clients=2, window_most=0.4, answers=1000)
    async with known_server(wait=0.02) as server:
        await run(servers(server), load)
    assert load.windows(0.0)[0].seconds == pytest.approx(0.4)
    assert re.match(
        r"the window ended at its bound of 0.4 s with \d+ embedding and \d+ generation answers: "
        "1000 of each were wanted",
        load.notes[0],
    )


async def test_clients_of_each_task_do_not_starve_the_other() -> None:
    """Streams of 0.4 s beside embeddings of 10 ms: in one loop of two clients both would soon wait
    for a stream."""
    apart = [ClientSet(1, workload(text)) for text in ("0.5@1:0", "0.5@0:1")]
    load = TimedClients(sets=apart, bounds=Bounds(0.0, 10.0, 1.6, 1.6, 0))
    async with known_server(wait=0.01, gap=0.4) as server:
        outcomes = await run(servers(server), load)
    [window] = load.windows(0.0)
    found = Counter(o.task for o in outcomes if window.holds(o.ended))
    assert found[Task.EMBEDDING] > 2 * found[Task.GENERATION] > 0
    assert load.tasks == set(Task)


async def test_an_open_loop_that_began_cold_says_so() -> None:
    warm_up = 0.2
    plan = [Planned(0.01 * number, EMBEDDING) for number in range(40)]
    notes = []
    for wait in (0.0, 0.5):
        load = DrawnArrivals(
            workload=workload("0.2@1:0"), plan=lambda: plan, warm_up=warm_up, drain=30
        )
        async with known_server(wait=wait) as server:
            await run(servers(server), load)
        notes.append(list(load.notes))
    assert notes == [[], ["the warm-up ended before the first answer of embedding"]]


async def test_a_counted_loop_sends_exactly_its_requests() -> None:
    async with known_server() as server:
        outcomes = await run(servers(server), CountedClients(workload("1@5:5"), 4, requests=40))
    assert len(outcomes) == 40
    assert sum(outcome.task is Task.GENERATION for outcome in outcomes) == 20


async def test_a_closed_loop_follows_its_phases() -> None:
    load = timed("0.5@0:1,2@1:0", clients=2, warm_up_most=0.1)
    async with known_server(wait=0.01) as server:
        outcomes = await run(servers(server), load)
    whole, first, second = load.windows(0.0)
    assert first.end == second.start == pytest.approx(whole.start + 0.5)
    assert {o.task for o in outcomes if o.planned < first.end} == {Task.GENERATION}
    assert {o.task for o in outcomes if o.planned > second.start} == {Task.EMBEDDING}


async def test_clients_pause_when_a_server_refuses_at_once() -> None:
    load = timed("0.5@1:0", clients=2, warm_up_most=0.1)
    async with known_server(failure="status", fine=1) as server:
        outcomes = await run(servers(server), load)
    assert {outcome.error for outcome in outcomes} == {"HTTP 429"}
    assert len(outcomes) <= 2 * 7


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
