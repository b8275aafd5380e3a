"""The engines that run now, kept as long as their devices have room."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from orthrus_serving.bench.suite.devices import Devices
from orthrus_serving.bench.suite.engine import Engine
from orthrus_serving.bench.suite.launch import EngineFailedError, RunningEngine

Launch = Callable[[Engine], RunningEngine]


class Fleet:
    """Starts engines when they are first needed; those used longest ago make room."""

    def __init__(self, devices: Devices, start: Launch) -> None:
        self._devices = devices
        self._start = start
        self._running: dict[Engine, RunningEngine] = {}
        """In order of use."""

    def urls(self, engines: Sequence[Engine]) -> list[str]:
        """Addresses of `engines`, all of which serve then.

        Raises:
            EngineFailedError: one cannot be started.
        """
        for engine in engines:
            if engine in self._running:  # used now: the last to go
                self._running[engine] = self._running.pop(engine)
        self._stop(leaving(list(self._running), engines, self._devices.capacity))
        starting: list[Engine] = []
        try:
            for engine in engines:
                if engine not in self._running:
                    # Two that start on one device at the same time misjudge its free memory.
                    if any(set(engine.devices) & set(other.devices) for other in starting):
                        self._wait(starting)
                    self._running[engine] = self._start(engine)
                    starting.append(engine)
            self._wait(starting)
        except EngineFailedError:
            self._stop(starting)
            raise
        return [self._running[engine].url for engine in engines]

    def bury(self) -> Mapping[Engine, EngineFailedError]:
        """The engines that have crashed since the last call; what they left is ended."""
        crashed: dict[Engine, EngineFailedError] = {}
        for engine, running in self._running.items():
            try:
                running.check()
            except EngineFailedError as error:
                crashed[engine] = error
        self._stop(list(crashed))
        return crashed

    def _wait(self, starting: list[Engine]) -> None:
        while starting:
            self._running[starting[-1]].wait_serving()
            starting.pop()

    def _stop(self, engines: Sequence[Engine]) -> None:
        for engine in engines:
            self._running[engine].ask_to_end()
        for engine in engines:
            self._running[engine].stop()
            del self._running[engine]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(list(self._running))


def leaving(running: Sequence[Engine], wanted: Sequence[Engine], capacity: float) -> list[Engine]:
    """Which of `running`, in order of use, must stop so that `wanted` have room."""
    stays = [*(engine for engine in running if engine not in wanted), *wanted]
    gone: list[Engine] = []
    for engine in running:
        if engine not in wanted and any(_used(stays, d) > capacity for d in engine.devices):
            stays.remove(engine)
            gone.append(engine)
    return gone


def _used(engines: Sequence[Engine], device: int) -> float:
    return sum(engine.share for engine in engines if device in engine.devices)
