"""`EngineCore.orthrus_snapshot`: what the front end pulls through an engine utility call."""

import time
from collections.abc import Callable
from typing import Any, Protocol, cast

from vllm.v1.engine.core import EngineCore

from orthrus_serving.scheduling.snapshot import Durations, Snapshot

WORKER_SILENCE_SECONDS = 15.0
"""A worker that hangs is seen so much later, and one that idles is busy for a fifteenth of its
time: vLLM's spin for a second after each message (`SpinCondition`)."""


class ReportsSnapshot(Protocol):
    """A scheduler that can report itself."""

    def snapshot(self) -> Snapshot: ...


class WorkerWatch:
    """When a worker process was last heard of; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard = clock()
        self._forwards = Durations()

    def is_due(self, snapshot: Snapshot) -> bool:
        """Whether to ask it now, since no step has ended for too long."""
        now, forwards = self._clock(), snapshot.step_seconds.forward
        if forwards != self._forwards:
            self._heard, self._forwards = now, forwards
            return False
        if now - self._heard < WORKER_SILENCE_SECONDS:
            return False
        self._heard = now
        return True


def attach_snapshot_call() -> None:
    """Give the engine of this process the utility call; others stay as vLLM made them."""
    watch = WorkerWatch()

    def orthrus_snapshot(core: EngineCore) -> dict[str, Any]:
        snapshot = cast("ReportsSnapshot", core.scheduler).snapshot()
        if watch.is_due(snapshot):
            # Without a timeout: with a hung worker the engine must not answer either.
            core.model_executor.collective_rpc("check_health")
        return snapshot.to_dict()

    EngineCore.orthrus_snapshot = orthrus_snapshot  # type: ignore[attr-defined]
