"""Seconds since the start of a run."""

import time


class Stopwatch:
    """Called, it tells the seconds since it was made or last restarted."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._started = time.perf_counter()

    def __call__(self) -> float:
        return time.perf_counter() - self._started
