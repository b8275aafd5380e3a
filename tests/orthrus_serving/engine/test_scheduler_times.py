"""Durations of steps as the scheduler measures them, synchronously and asynchronously."""

from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.outputs import ModelRunnerOutput

from orthrus_serving.engine import scheduler as scheduler_module
from orthrus_serving.scheduling.snapshot import Snapshot
from tests.orthrus_serving.engine.scheduler_loop import (
    BLOCK_SIZE,
    CountingWorker,
    EngineLoop,
    LoopConfig,
    RequestMaker,
    StepRecord,
)

FIXED, PER_TOKEN = 0.001, 0.000_1


@dataclass
class TimedWorker(CountingWorker):
    """Takes time for steps, one after the other; `now` moves when somebody waits for a step."""

    now: float = 100.0
    _ends: deque[float] = field(default_factory=deque)
    _free_at: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()

    def execute(self, step: SchedulerOutput) -> ModelRunnerOutput:
        tokens = step.total_num_scheduled_tokens
        self._free_at = max(self.now, self._free_at)
        self._free_at += FIXED + PER_TOKEN * tokens if tokens else 0.0
        self._ends.append(self._free_at)
        return super().execute(step)

    def wait(self) -> None:
        self.now = max(self.now, self._ends.popleft())


@dataclass
class TimedLoop(EngineLoop):
    worker: TimedWorker = field(default_factory=TimedWorker)

    def _deliver(self) -> None:
        self.worker.wait()
        super()._deliver()


@pytest.fixture
def make() -> RequestMaker:
    return RequestMaker()


def timed_loop(monkeypatch: pytest.MonkeyPatch, config: LoopConfig) -> TimedLoop:
    loop = TimedLoop(config)
    clock = SimpleNamespace(monotonic=lambda: loop.worker.now)
    monkeypatch.setattr(scheduler_module, "time", clock)
    return loop


@pytest.mark.parametrize("asynchronous", [False, True])
def test_steps_with_decodes_stay_under_an_inter_token_target_and_use_it(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    """30 tokens take 4 ms here; two KV blocks are 16."""
    config = LoopConfig(asynchronous=asynchronous, max_inter_token_millis=4)
    loop = timed_loop(monkeypatch, config)
    streams = [make.generation(1, max_tokens=100) for _ in range(4)]
    loop.add(*streams, *(make.embedding(100) for _ in range(40)))
    steps = [loop.step() for _ in range(60)][20:]

    assert {step.total_of("g") for step in steps} == {4}
    assert all(26 <= step.total <= 30 for step in steps)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_type_keeps_a_block_under_a_target_that_cannot_be_met(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    config = LoopConfig(asynchronous=asynchronous, max_inter_token_millis=0.5)
    loop = timed_loop(monkeypatch, config)
    stream = make.generation(1, max_tokens=100)
    loop.add(stream)
    loop.step()
    loop.add(*(make.embedding(100) for _ in range(9)), *(make.generation(100) for _ in range(3)))

    for _ in range(10):
        assert sorted(_without(loop.step(), stream.request_id)) == [BLOCK_SIZE, BLOCK_SIZE]


def _without(step: StepRecord, request_id: str) -> list[int]:
    return [tokens for other, tokens in step.tokens.items() if other != request_id]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_phases_add_up_to_the_time_in_which_there_were_steps(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    loop = timed_loop(monkeypatch, LoopConfig(asynchronous=asynchronous))
    began = loop.worker.now
    loop.add(*(make.embedding(100) for _ in range(9)), *(make.generation(30) for _ in range(3)))
    loop.run(max_steps=60)
    busy = loop.worker.now - began
    loop.worker.now += 5.0

    snapshot = loop.scheduler.snapshot()

    assert snapshot.busy_seconds == pytest.approx(busy)
    assert snapshot.step_seconds.forward.total == pytest.approx(busy)
    counted = sum(1 for step in loop.history if step.tokens)
    for phase in ("schedule", "forward", "emit"):
        assert sum(getattr(snapshot.step_seconds, phase).counts) == counted
    assert snapshot.taken_at == loop.worker.now


def test_a_step_in_flight_counts_as_busy(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = timed_loop(monkeypatch, LoopConfig(asynchronous=True))
    loop.add(make.embedding(100))
    loop.step()
    loop.worker.now += 0.5

    assert loop.scheduler.snapshot().busy_seconds == pytest.approx(0.5)


def test_the_age_of_the_oldest_request_that_waits_is_known(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = timed_loop(monkeypatch, LoopConfig(sequences=3))
    loop.add(*(make.embedding(10) for _ in range(3)))
    loop.worker.now += 3
    loop.add(make.generation(10))
    loop.worker.now += 4

    def ages() -> tuple[float, float]:
        oldest = loop.scheduler.snapshot().oldest_waiting_seconds
        return oldest.embedding, oldest.generation

    assert ages() == (7.0, 4.0)
    loop.step()
    assert ages() == pytest.approx((7.0, 0.0), abs=0.1), "a row is kept: one embedding waits"
    loop.run(max_steps=10)
    assert ages() == (0.0, 0.0)


def test_a_snapshot_survives_the_way_to_the_front_end(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = timed_loop(monkeypatch, LoopConfig())
    loop.add(make.embedding(100), make.generation(10))
    loop.step()
    loop.worker.now += 1.0
    snapshot = loop.scheduler.snapshot()

    assert Snapshot.from_dict(snapshot.to_dict()) == snapshot
