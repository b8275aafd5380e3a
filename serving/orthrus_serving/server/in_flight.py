"""Requests that are being answered, so that a drain can wait for them or end them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class InFlight:
    """The set of requests in work; one asyncio task each, from first byte to last."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self.abandoned = False

    def __len__(self) -> int:
        return len(self._tasks)

    @contextmanager
    def track(self) -> Iterator[None]:
        """Counts the current task as a request until the block ends."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request runs inside a task")
        self._tasks.add(task)
        self._empty.clear()
        try:
            yield
        finally:
            self._tasks.discard(task)
            if not self._tasks:
                self._empty.set()

    async def wait_empty(self, timeout_seconds: float) -> bool:
        """Waits until no request is in work; False when time ran out first."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True

    def abandon(self) -> None:
        """Cancels every request in work; the app answers those that have not begun to answer."""
        self.abandoned = True
        for task in self._tasks:
            task.cancel()
