"""Cumulative counts of what was scheduled."""

from collections.abc import Callable

from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.snapshot import ByTask, Snapshot, StepCounts, UnitTokens
from orthrus_serving.scheduling.step_clock import StepClock
from orthrus_serving.scheduling.task import Task


class StepCounters:
    """A few additions per step; the front end derives every rate and ratio."""

    def __init__(self) -> None:
        self._tokens = UnitTokens()
        self._steps = StepCounts()
        self._token_budget = 0

    def record(self, tokens: UnitTokens, token_budget: int) -> None:
        """Count one step; a step without tokens does not count."""
        generation = tokens.generation_prefill + tokens.decode
        if not tokens.embedding_chunk and not generation:
            return
        counted, steps = self._tokens, self._steps
        self._tokens = UnitTokens(
            counted.embedding_chunk + tokens.embedding_chunk,
            counted.generation_prefill + tokens.generation_prefill,
            counted.decode + tokens.decode,
        )
        self._steps = StepCounts(
            mixed=steps.mixed + bool(tokens.embedding_chunk and generation),
            embedding=steps.embedding + (not generation),
            generation=steps.generation + (not tokens.embedding_chunk),
        )
        self._token_budget += token_budget

    def snapshot(
        self, backlog: Backlog, clock: StepClock, kv_cache_usage: float, now: float
    ) -> Snapshot:
        return Snapshot(
            taken_at=now,
            scheduled_tokens=self._tokens,
            token_budget=self._token_budget,
            steps=self._steps,
            step_seconds=clock.phases(),
            busy_seconds=clock.busy_seconds(now),
            backlog_tokens=_by_task(backlog.tokens),
            backlog_requests=_by_task(backlog.requests),
            oldest_waiting_seconds=_by_task(lambda task: backlog.oldest_age(task, now)),
            kv_cache_usage=kv_cache_usage,
        )


def _by_task(number_of: Callable[[Task], float]) -> ByTask:
    return ByTask(number_of(Task.EMBEDDING), number_of(Task.GENERATION))
