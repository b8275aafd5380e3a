"""Rates and ratios over the last few seconds of engine steps, from two cumulative snapshots."""

from orthrus_serving.scheduling.snapshot import Snapshot

WINDOW_SECONDS = 5.0


class StepWindow:
    """Mix, fill and busy share of the last completed window; 0 where it held nothing.

    `prefill_rate`: prompt tokens per busy second in the last window that ended with a backlog;
    None before there was one. Others do not tell how fast a backlog goes: they lacked prompts.
    """

    def __init__(self) -> None:
        self._start: tuple[Snapshot, float] | None = None
        self.mix_ratio = 0.0
        self.fill_ratio = 0.0
        self.busy_ratio = 0.0
        self.prefill_rate: float | None = None

    def record(self, snapshot: Snapshot, now: float) -> None:
        """Takes a snapshot made at `now` (seconds); completes the window when it is long enough."""
        if self._start is None:
            self._start = (snapshot, now)
            return
        earlier, since = self._start
        complete = now - since >= WINDOW_SECONDS
        if complete or self.prefill_rate is None:
            self._measure_rate(earlier, snapshot)
        if not complete:
            return
        embedding = snapshot.scheduled_tokens.embedding_chunk
        embedding -= earlier.scheduled_tokens.embedding_chunk
        scheduled = _total(snapshot) - _total(earlier)
        offered = snapshot.token_budget - earlier.token_budget
        busy = snapshot.busy_seconds - earlier.busy_seconds
        self.mix_ratio = _ratio(embedding, scheduled)
        self.fill_ratio = _ratio(scheduled, offered)
        self.busy_ratio = _ratio(busy, snapshot.taken_at - earlier.taken_at)
        self._start = (snapshot, now)

    def _measure_rate(self, earlier: Snapshot, snapshot: Snapshot) -> None:
        tokens = _prefill(snapshot) - _prefill(earlier)
        busy = snapshot.busy_seconds - earlier.busy_seconds
        if snapshot.backlog_tokens.total and tokens and busy:
            self.prefill_rate = tokens / busy


def _prefill(snapshot: Snapshot) -> int:
    tokens = snapshot.scheduled_tokens
    return tokens.embedding_chunk + tokens.generation_prefill


def _total(snapshot: Snapshot) -> int:
    return _prefill(snapshot) + snapshot.scheduled_tokens.decode


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
