"""When steps began, were launched, answered and done: their phases, and how long each took."""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

from orthrus_serving.scheduling.snapshot import STEP_SECONDS_BOUNDS, Durations, PhaseSeconds


@dataclass(frozen=True)
class MeasuredStep:
    """What a step held, and for how long the engine had no other step to end first."""

    chunk_tokens: int
    decode_tokens: int
    seconds: float


@dataclass(frozen=True)
class _InFlight:
    chunk_tokens: int
    decode_tokens: int
    began: float
    launched: float


class StepClock:
    """Told the moments of each step in seconds; reads no clock itself.

    Steps end in the order in which they were launched. An asynchronous engine launches the next
    one before, so a step's own time starts when the one before it has ended: times of steps add
    up to the time in which there were any.
    """

    def __init__(self) -> None:
        self._in_flight: deque[_InFlight] = deque()
        self._arrived = 0.0
        self._done = 0.0
        self._schedule = _Histogram()
        self._forward = _Histogram()
        self._emit = _Histogram()

    def launch(self, chunk_tokens: int, decode_tokens: int, began: float, launched: float) -> None:
        """A step was planned from `began` on and is now in flight; it may be one without tokens."""
        self._in_flight.append(_InFlight(chunk_tokens, decode_tokens, began, launched))

    def complete(self, arrived: float, done: float) -> MeasuredStep | None:
        """The oldest step's output has arrived and been dealt with; None if it had no tokens."""
        step = self._in_flight.popleft()
        if not step.chunk_tokens and not step.decode_tokens:
            return None
        self._schedule.add(step.launched - step.began)
        self._forward.add(arrived - max(step.launched, self._arrived))
        self._emit.add(done - arrived)
        seconds = done - max(step.began, self._done)
        self._arrived, self._done = arrived, done
        return MeasuredStep(step.chunk_tokens, step.decode_tokens, seconds)

    def phases(self) -> PhaseSeconds:
        return PhaseSeconds(
            self._schedule.durations(), self._forward.durations(), self._emit.durations()
        )

    def busy_seconds(self, now: float) -> float:
        """Time with a forward pass in flight, up to `now`."""
        launched = (s.launched for s in self._in_flight if s.chunk_tokens or s.decode_tokens)
        running_since = max(next(launched, now), self._arrived)
        return self._forward.total + now - running_since


class _Histogram:
    def __init__(self) -> None:
        self._counts = [0] * (len(STEP_SECONDS_BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(STEP_SECONDS_BOUNDS, seconds)] += 1
        self.total += seconds

    def durations(self) -> Durations:
        return Durations(tuple(self._counts), self.total)
