"""The one process of a replica that turns outputs of steps into answers, beside the engine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FrontEndCost:
    """Seconds of each output token and of each vector; zero for a front end that is no limit."""

    output_token: float = 0.0
    vector: float = 0.0


class FrontEnd:
    """Works through the outputs of steps one after the other; steps do not wait for it."""

    def __init__(self, cost: FrontEndCost) -> None:
        self._cost = cost
        self._free_at = 0.0

    def tokens(self, emitted: float, count: int) -> float:
        """`count` tokens come out of a step that ended at `emitted`; returns when they are sent."""
        self._free_at = max(self._free_at, emitted) + count * self._cost.output_token
        return self._free_at

    def vector(self, emitted: float) -> float:
        """The same for one vector."""
        self._free_at = max(self._free_at, emitted) + self._cost.vector
        return self._free_at

    def steps(self, first_end: float, last_end: float, count: int, tokens: int) -> float:
        """`count` steps of `tokens` tokens each, every step at least as long as the one before.

        The queue is longest at the end when it builds up from the first step on, or not at all.
        """
        work = tokens * self._cost.output_token
        self._free_at = max(self._free_at + count * work, first_end + count * work, last_end + work)
        return self._free_at
