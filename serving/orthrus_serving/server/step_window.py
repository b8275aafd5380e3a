"""Ratios over the last few seconds of engine steps, from two cumulative snapshots."""

from orthrus_serving.scheduling.snapshot import Snapshot

WINDOW_SECONDS = 5.0


class StepWindow:
    """Mix and fill of the last completed window; both 0 when it held no tokens."""

    def __init__(self) -> None:
        self._start: tuple[Snapshot, float] | None = None
        self.mix_ratio = 0.0
        self.fill_ratio = 0.0

    def record(self, snapshot: Snapshot, now: float) -> None:
        """Takes a snapshot made at `now` (seconds); completes the window when it is long enough."""
        if self._start is None:
            self._start = (snapshot, now)
            return
        earlier, since = self._start
        if now - since < WINDOW_SECONDS:
            return
        embedding = snapshot.scheduled_tokens.embedding_chunk
        embedding -= earlier.scheduled_tokens.embedding_chunk
        scheduled = _total(snapshot) - _total(earlier)
        offered = snapshot.token_budget - earlier.token_budget
        self.mix_ratio = _ratio(embedding, scheduled)
        self.fill_ratio = _ratio(scheduled, offered)
        self._start = (snapshot, now)


def _total(snapshot: Snapshot) -> int:
    tokens = snapshot.scheduled_tokens
    return tokens.embedding_chunk + tokens.generation_prefill + tokens.decode


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
