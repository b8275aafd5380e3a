"""A bound on the time between two tokens of a stream."""

from orthrus_serving.scheduling.step_clock import MeasuredStep
from orthrus_serving.scheduling.step_time import StepTime
from orthrus_serving.scheduling.trim import Trim

_TRUST = 2
"""Chunk tokens of a step, in multiples of the most that a measured one held."""


class InterTokenTarget:
    """Trims chunks so that a step with decodes is predicted to stay under `seconds`.

    Until steps have been measured, nothing larger than the floor is believed to stay under it,
    and then nothing beyond twice the largest measured: from the first step on the target holds
    as far as anybody can know, and a dozen steps lead from the floor to any budget.

    Args:
        floor: tokens that each task with work gets whatever the prediction says: one KV block.
    """

    def __init__(self, seconds: float, floor: int, step_time: StepTime) -> None:
        self._seconds = seconds
        self._floor = floor
        self._step_time = step_time
        self._largest = 0

    def trim(self, decodes: int) -> Trim | None:
        """The cut for a step with this many decodes; without any nobody waits for a token."""
        if not decodes:
            return None
        within = self._step_time.chunk_tokens_within(self._seconds, decodes)
        return Trim(int(min(within, _TRUST * self._largest)), self._floor)

    def learn(self, step: MeasuredStep) -> None:
        self._largest = max(self._largest, step.chunk_tokens)
        self._step_time.learn(step.chunk_tokens, step.decode_tokens, step.seconds)
