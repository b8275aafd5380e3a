"""Asks the engine for its snapshot once a second: the source of metrics, and the proof of life."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from orthrus_serving.scheduling.snapshot import Snapshot
from orthrus_serving.server.step_window import StepWindow

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
DEATH_POLL_SECONDS = 0.25
ANSWER_BOUND_SECONDS = 30.0
"""The engine answers between steps only, so this is above the longest legal stall (a kernel
compiled at first use), and low enough that a frozen engine is seen within a minute."""


class Engine(Protocol):
    """What the monitor needs of an engine."""

    @property
    def died(self) -> bool: ...

    async def snapshot(self) -> Snapshot: ...


class EngineMonitor:
    """Life and last snapshot of one engine.

    One question is outstanding at a time: vLLM keeps a cancelled one for ever, and queues
    messages behind a frozen engine.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._engine: Engine | None = None
        self._asked_at: float | None = None
        self._answered_at = clock()
        self.snapshot = Snapshot()
        self.window = StepWindow()

    @property
    def snapshot_age(self) -> float:
        """Seconds since the last snapshot, or since the start when none has come."""
        return self._clock() - self._answered_at

    @property
    def alive(self) -> bool:
        """False once the engine process is gone or an answer is overdue; True while loading."""
        if self._engine is not None and self._engine.died:
            return False
        return self._asked_at is None or self._clock() - self._asked_at <= ANSWER_BOUND_SECONDS

    async def watch(self, engine: Engine) -> None:
        """Asks until cancelled."""
        self._engine = engine
        while True:
            await self._ask(engine)
            await asyncio.sleep(POLL_SECONDS)

    async def _ask(self, engine: Engine) -> None:
        self._asked_at = self._clock()
        try:
            snapshot = await engine.snapshot()
        except Exception:  # any answer, even an error, is a sign of life
            if not engine.died:
                logger.exception("the engine's snapshot failed")
            return
        finally:
            self._asked_at = None
        self._answered_at = self._clock()
        self.snapshot = snapshot
        self.window.record(snapshot, self._answered_at)


async def wait_for_death(engine: Engine) -> None:
    """Returns when the engine process is gone."""
    while not engine.died:  # noqa: ASYNC110 (vLLM sets a flag from a thread, and tells nobody)
        await asyncio.sleep(DEATH_POLL_SECONDS)
