import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from orthrus_serving.scheduling.snapshot import ByTask, Snapshot, UnitTokens
from orthrus_serving.server import engine_monitor
from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS, wait_for_death
from orthrus_serving.server.step_window import WINDOW_SECONDS, StepWindow
from tests.orthrus_serving.server.outer_app import FakeEngine, OuterApp, until


@pytest_asyncio.fixture
async def engine(outer: OuterApp, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeEngine]:
    """A watched engine, asked as often as the event loop turns."""
    monkeypatch.setattr(engine_monitor, "POLL_SECONDS", 0)
    monkeypatch.setattr(engine_monitor, "DEATH_POLL_SECONDS", 0)
    engine = FakeEngine()
    outer.serve()
    watching = asyncio.create_task(outer.monitor.watch(engine))
    await until(lambda: engine.questions > 0)
    yield engine
    watching.cancel()


async def test_an_answering_engine_is_healthy(
    engine: FakeEngine, client: httpx.AsyncClient
) -> None:
    assert (await client.get("/health")).status_code == 200


async def test_an_overdue_answer_makes_health_fail_and_a_late_one_heals_it(
    engine: FakeEngine, outer: OuterApp, client: httpx.AsyncClient
) -> None:
    engine.answers.clear()
    asked = engine.questions
    await until(lambda: engine.questions > asked)
    outer.clock.now += ANSWER_BOUND_SECONDS
    assert (await client.get("/health")).status_code == 200
    outer.clock.now += 1
    for path in ("/health", "/ready"):
        assert (await client.get(path)).status_code == 503
    engine.answers.set()
    await until(lambda: outer.monitor.alive)


async def test_a_hung_engine_is_asked_once(engine: FakeEngine) -> None:
    engine.answers.clear()
    asked = engine.questions
    await until(lambda: engine.questions > asked)
    for _ in range(20):
        await asyncio.sleep(0)
    assert engine.questions == asked + 1


async def test_a_dead_engine_is_unhealthy_and_noticed(
    engine: FakeEngine, client: httpx.AsyncClient
) -> None:
    engine.died = True
    assert (await client.get("/health")).status_code == 503
    async with asyncio.timeout(5):
        await wait_for_death(engine)


async def test_the_last_snapshot_is_kept(engine: FakeEngine, outer: OuterApp) -> None:
    engine.next = Snapshot(token_budget=7)
    await until(lambda: outer.monitor.snapshot.token_budget == 7)


def test_ratios_are_of_the_last_completed_window() -> None:
    window = StepWindow()
    window.record(Snapshot(), now=0)
    assert (window.mix_ratio, window.fill_ratio) == (0.0, 0.0)
    mixed = Snapshot(scheduled_tokens=UnitTokens(30, 6, 4), token_budget=80)
    window.record(mixed, now=WINDOW_SECONDS / 2)
    assert (window.mix_ratio, window.fill_ratio) == (0.0, 0.0)
    window.record(mixed, now=WINDOW_SECONDS)
    assert (window.mix_ratio, window.fill_ratio) == (0.75, 0.5)
    window.record(mixed, now=2 * WINDOW_SECONDS)
    assert (window.mix_ratio, window.fill_ratio) == (0.0, 0.0)


def test_the_busy_share_is_by_the_clock_of_the_engine() -> None:
    window = StepWindow()
    window.record(Snapshot(taken_at=50.0, busy_seconds=10.0), now=0)
    window.record(Snapshot(taken_at=56.0, busy_seconds=13.0), now=WINDOW_SECONDS)
    assert window.busy_ratio == 0.5


def test_the_prefill_rate_is_of_the_last_window_that_ended_with_a_backlog() -> None:
    def snapshot(tokens: int, busy: float, backlog: int) -> Snapshot:
        return Snapshot(
            scheduled_tokens=UnitTokens(embedding_chunk=tokens, decode=10**6),
            busy_seconds=busy,
            backlog_tokens=ByTask(generation=backlog),
        )

    window = StepWindow()
    window.record(snapshot(0, 0.0, backlog=900), now=0)
    assert window.prefill_rate is None
    window.record(snapshot(100, 1.0, backlog=800), now=1)
    assert window.prefill_rate == 100, "the first need not wait for a whole window"
    window.record(snapshot(400, 2.0, backlog=500), now=WINDOW_SECONDS)
    assert window.prefill_rate == 200
    window.record(snapshot(410, 6.0, backlog=0), now=2 * WINDOW_SECONDS)
    assert window.prefill_rate == 200, "few prompts are no slow engine"
