"""The liveness probe tells an operator that is broken from one that has much to do."""

import asyncio

import kopf
import pytest

from orthrus_operator.handlers.watches import check_progress
from orthrus_operator.reconciler.outcome import ObjectKey, Outcome
from orthrus_operator.reconciler.queue import KeyedQueue, QueueSettings
from tests.clock import Clock

ONE_WORKER = QueueSettings(resync=3600.0, workers=1)
KEYS = [ObjectKey("models", f"m{number}") for number in range(40)]


async def test_many_slow_looks_are_no_standstill() -> None:
    clock = Clock(1000.0)
    waits: list[float] = []
    found: list[float] = []
    done = asyncio.Event()

    async def look(key: ObjectKey) -> Outcome:
        clock.now += 50.0
        waits.append(queue.longest_wait())
        found.append(check_progress(queue))
        if key == KEYS[-1]:
            done.set()
        return Outcome.DONE

    queue = KeyedQueue(look, ONE_WORKER, clock=clock)
    for key in KEYS:
        queue.add(key)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        task = group.create_task(queue.run())
        await done.wait()
        task.cancel()
    assert max(waits) > 1900
    # The queue swallows what a look raises.
    assert found == [50.0] * len(KEYS)


@pytest.mark.parametrize("waiting", [0, 1])
async def test_a_look_that_nothing_ends_is_one_whether_others_wait_or_not(waiting: int) -> None:
    clock, started = Clock(1000.0), asyncio.Event()

    async def look(_: ObjectKey) -> Outcome:
        started.set()
        await asyncio.Event().wait()
        return Outcome.DONE

    queue = KeyedQueue(look, ONE_WORKER, clock=clock)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        task = group.create_task(queue.run())
        for key in KEYS[: 1 + waiting]:
            queue.add(key)
        await started.wait()
        clock.now += 119.0
        assert check_progress(queue) == 119.0
        clock.now += 2.0
        with pytest.raises(kopf.PermanentError, match="nothing moved for 121 s"):
            check_progress(queue)
        task.cancel()


async def test_keys_that_no_worker_takes_are_a_standstill() -> None:
    clock = Clock(1000.0)

    async def look(_: ObjectKey) -> Outcome:
        return Outcome.DONE

    queue = KeyedQueue(look, ONE_WORKER, clock=clock)
    clock.now += 500.0
    assert check_progress(queue) == 0.0
    queue.add(KEYS[0])
    clock.now += 121.0
    with pytest.raises(kopf.PermanentError):
        check_progress(queue)
