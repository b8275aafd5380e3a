"""The queue: every key once, serial per key, back-off, resync, time limit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise

from orthrus_operator.reconciler.outcome import Outcome
from orthrus_operator.reconciler.queue import KeyedQueue, QueueSettings

FAST = QueueSettings(
    resync=0.05, time_limit=0.05, first_backoff=0.02, longest_backoff=0.08, workers=3
)
SLOW_RESYNC = QueueSettings(resync=60, time_limit=5, first_backoff=0.02, longest_backoff=0.08)


class Looks:
    """Looks that follow a script, and remember when they happened."""

    def __init__(self, look: Callable[[str, int], Awaitable[Outcome]]) -> None:
        self.times: dict[str, list[float]] = {}
        self._look = look

    async def __call__(self, key: str) -> Outcome:
        seen = self.times.setdefault(key, [])
        seen.append(asyncio.get_running_loop().time())
        return await self._look(key, len(seen))

    def count(self, key: str) -> int:
        return len(self.times.get(key, []))

    def more_than(self, key: str, count: int) -> bool:
        return self.count(key) > count

    def gaps(self, key: str) -> list[float]:
        times = self.times[key]
        return [after - before for before, after in pairwise(times)]


@asynccontextmanager
async def running(queue: KeyedQueue[str]) -> AsyncIterator[None]:
    task = asyncio.create_task(queue.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], object], within: float = 5.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 (observes from outside)
            await asyncio.sleep(0.002)


async def done(_key: str, _count: int) -> Outcome:
    return Outcome.DONE


def held(gate: asyncio.Event, outcome: Outcome) -> Callable[[str, int], Awaitable[Outcome]]:
    """A look that lasts until `gate` is set."""

    async def look(_key: str, _count: int) -> Outcome:
        await gate.wait()
        return outcome

    return look


async def test_many_events_while_a_key_waits_are_one_look() -> None:
    looks = Looks(done)
    queue = KeyedQueue(looks, SLOW_RESYNC)
    for _ in range(100):
        queue.add("a")
    queue.add("b")
    async with running(queue):
        await until(lambda: looks.count("b"))
    assert looks.count("a") == 1


async def test_an_event_during_a_look_is_one_more_look_after_it() -> None:
    gate = asyncio.Event()
    active = 0
    most_active = 0

    async def look(_key: str, _count: int) -> Outcome:
        nonlocal active, most_active
        active += 1
        most_active = max(most_active, active)
        await gate.wait()
        active -= 1
        return Outcome.DONE

    looks = Looks(look)
    queue = KeyedQueue(looks, SLOW_RESYNC)
    async with running(queue):
        queue.add("a")
        await until(lambda: active)
        for _ in range(10):
            queue.add("a")
        gate.set()
        await until(lambda: looks.count("a") == 2)
    assert looks.count("a") == 2
    assert most_active == 1


async def test_different_keys_are_looked_at_in_parallel() -> None:
    together = asyncio.Barrier(3)

    async def look(_key: str, _count: int) -> Outcome:
        await together.wait()
        return Outcome.DONE

    looks = Looks(look)
    queue = KeyedQueue(looks, QueueSettings(workers=3))
    async with running(queue):
        for key in "abc":
            queue.add(key)
        await until(lambda: len(looks.times) == 3)


async def test_a_failing_key_backs_off_and_the_others_go_on() -> None:
    async def look(key: str, _count: int) -> Outcome:
        if key == "bad":
            raise RuntimeError("broken")
        return Outcome.DONE

    looks = Looks(look)
    queue = KeyedQueue(looks, FAST)
    async with running(queue):
        queue.add("bad")
        queue.add("good")
        await until(lambda: looks.count("bad") == 5 and looks.count("good") >= 3)
    assert looks.gaps("bad")[0] >= 0.02
    assert looks.gaps("bad")[1] >= 0.04
    assert all(gap >= 0.08 for gap in looks.gaps("bad")[2:])


async def test_success_forgets_the_back_off() -> None:
    async def look(_key: str, count: int) -> Outcome:
        return Outcome.DONE if count == 4 else Outcome.RETRY

    looks = Looks(look)
    queue = KeyedQueue(looks, QueueSettings(resync=0.01, first_backoff=0.1, longest_backoff=10))
    async with running(queue):
        queue.add("a")
        await until(lambda: looks.count("a") == 6)
    gaps = looks.gaps("a")
    assert gaps[2] >= 0.4
    assert gaps[4] < 0.8


async def test_events_during_back_off_get_a_look_but_do_not_lengthen_it() -> None:
    async def look(_key: str, _count: int) -> Outcome:
        return Outcome.RETRY

    looks = Looks(look)
    queue = KeyedQueue(looks, QueueSettings(resync=60, first_backoff=0.1, longest_backoff=60))
    async with running(queue):
        queue.add("a")
        await until(lambda: looks.count("a") == 1)
        for events in range(1, 7):
            queue.add("a")
            await until(partial(looks.more_than, "a", events))
        await until(lambda: looks.count("a") == 8)


async def test_every_key_is_looked_at_again_and_events_do_not_multiply_that() -> None:
    looks = Looks(done)
    queue = KeyedQueue(looks, QueueSettings(resync=0.1))
    async with running(queue):
        for _ in range(20):
            queue.add("a")
            await asyncio.sleep(0.001)
        start = looks.count("a")
        await until(lambda: looks.count("a") == start + 4)
    assert all(gap >= 0.09 for gap in looks.gaps("a")[-3:])


async def test_a_look_that_hangs_has_failed_and_frees_its_worker() -> None:
    async def look(key: str, _count: int) -> Outcome:
        if key == "hangs":
            await asyncio.Event().wait()
        return Outcome.DONE

    looks = Looks(look)
    queue = KeyedQueue(looks, QueueSettings(time_limit=0.05, first_backoff=0.01, workers=1))
    async with running(queue):
        queue.add("hangs")
        queue.add("next")
        await until(lambda: looks.count("next") == 1 and looks.count("hangs") == 2)


async def test_a_key_that_is_gone_is_forgotten_until_it_is_added_again() -> None:
    async def look(_key: str, _count: int) -> Outcome:
        return Outcome.GONE

    looks = Looks(look)
    queue = KeyedQueue(looks, FAST)
    async with running(queue):
        queue.add("a")
        await until(lambda: looks.count("a") == 1)
        await asyncio.sleep(0.2)
        assert looks.count("a") == 1
        queue.add("a")
        await until(lambda: looks.count("a") == 2)


async def test_a_key_that_no_worker_takes_shows_as_a_wait() -> None:
    queue = KeyedQueue(Looks(done), SLOW_RESYNC)
    assert queue.longest_wait() == 0
    queue.add("a")
    await asyncio.sleep(0.02)
    assert queue.longest_wait() >= 0.02
    async with running(queue):
        await until(lambda: queue.longest_wait() == 0)


async def test_a_key_that_never_succeeds_is_tried_for_ever() -> None:
    async def fail(_key: str, _count: int) -> Outcome:
        return Outcome.RETRY

    looks = Looks(fail)
    settings = QueueSettings(resync=60, first_backoff=1e-6, longest_backoff=1e-6)
    queue = KeyedQueue(looks, settings)
    queue.add("a")
    async with running(queue):
        await until(lambda: looks.more_than("a", 1100))


async def test_what_can_wait_is_looked_at_at_once_when_all_was_calm() -> None:
    looks = Looks(done)
    queue = KeyedQueue(looks, QueueSettings(resync=60, calm=60))
    async with running(queue):
        queue.add_calmly("a")
        await until(lambda: looks.count("a") == 1)


async def test_a_storm_of_what_can_wait_is_a_look_now_and_then() -> None:
    looks = Looks(done)
    calm = 0.3
    queue = KeyedQueue(looks, QueueSettings(resync=60, calm=calm))
    async with running(queue):
        started = asyncio.get_running_loop().time()
        while looks.count("a") < 4:
            queue.add_calmly("a")
            await asyncio.sleep(0.005)
        # The last of a storm is seen, too.
        queue.add_calmly("a")
        await until(lambda: looks.count("a") == 5)
        await asyncio.sleep(calm + 0.1)
    assert looks.count("a") == 5
    # From the start: a look that the machine held up begins its own calm before we see it.
    soonest = [started + number * calm for number in range(5)]
    assert all(seen >= due for seen, due in zip(looks.times["a"], soonest, strict=True))


async def look_in_the_midst_of_a_storm(queue: KeyedQueue[str], looks: Looks) -> None:
    """A second look, at once, while a calm one waits for its time."""
    queue.add("a")
    await until(lambda: looks.count("a") == 1)
    queue.add_calmly("a")
    queue.add("a")
    await until(lambda: looks.count("a") == 2)


async def test_what_cannot_wait_is_looked_at_in_the_midst_of_a_storm() -> None:
    looks = Looks(done)
    queue = KeyedQueue(looks, QueueSettings(resync=60, calm=60))
    async with running(queue):
        await look_in_the_midst_of_a_storm(queue, looks)


async def test_a_look_in_the_midst_of_a_storm_has_seen_what_waited() -> None:
    looks = Looks(done)
    queue = KeyedQueue(looks, QueueSettings(resync=60, calm=0.3))
    async with running(queue):
        await look_in_the_midst_of_a_storm(queue, looks)
        await asyncio.sleep(0.5)
    assert looks.count("a") == 2


async def test_what_comes_during_a_look_is_looked_at_after_it() -> None:
    gate = asyncio.Event()
    looks = Looks(held(gate, Outcome.DONE))
    queue = KeyedQueue(looks, QueueSettings(resync=60, calm=0.05))
    async with running(queue):
        queue.add("a")
        await until(lambda: looks.count("a") == 1)
        queue.add_calmly("a")
        await asyncio.sleep(0.1)
        assert looks.count("a") == 1
        gate.set()
        await until(lambda: looks.count("a") == 2)


async def test_what_can_wait_does_not_bring_back_a_key_that_is_gone() -> None:
    gate = asyncio.Event()
    looks = Looks(held(gate, Outcome.GONE))
    queue = KeyedQueue(looks, QueueSettings(calm=0.1))
    async with running(queue):
        queue.add("a")
        await until(lambda: looks.count("a") == 1)
        queue.add_calmly("a")
        gate.set()
        await asyncio.sleep(0.2)
    assert looks.count("a") == 1
