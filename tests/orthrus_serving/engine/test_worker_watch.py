"""How seldom a worker process is asked whether it lives."""

from orthrus_serving.engine.scheduler_snapshot import WORKER_SILENCE_SECONDS, WorkerWatch
from orthrus_serving.scheduling.snapshot import Durations, PhaseSeconds, Snapshot
from tests.clock import Clock


def after(steps: int) -> Snapshot:
    forward = Durations(total=0.5 * steps)
    return Snapshot(step_seconds=PhaseSeconds(forward=forward))


def test_an_idle_worker_is_asked_once_in_a_while() -> None:
    """Each question keeps it from sleeping for a second."""
    clock = Clock(100.0)
    watch = WorkerWatch(clock)
    asked = []
    for second in range(61):
        clock.now = 100.0 + second
        if watch.is_due(after(0)):
            asked.append(second)
    assert asked == [15, 30, 45, 60]
    assert WORKER_SILENCE_SECONDS == 15


def test_a_worker_that_makes_steps_is_not_asked_until_it_stops() -> None:
    clock = Clock(100.0)
    watch = WorkerWatch(clock)
    for second in range(60):
        clock.now = 100.0 + second
        assert not watch.is_due(after(second))
    clock.now = 159.0 + WORKER_SILENCE_SECONDS - 1
    assert not watch.is_due(after(59))
    clock.now += 1
    assert watch.is_due(after(59))
