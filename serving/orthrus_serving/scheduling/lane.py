"""One queue of requests in order of service, as one step sees it."""

from collections.abc import Iterable

from orthrus_serving.scheduling.admission import Admission, Verdict
from orthrus_serving.scheduling.limits import OVERTAKING_LIMIT
from orthrus_serving.scheduling.prefill import Prefill


class Lane:
    """Grants tokens to its head: partly run requests first, then waiting ones as admitted.

    The head keeps its place until all its tokens are granted, so requests finish in order
    rather than all together. A waiting request that cannot run is passed over, a bounded number
    of times; how far a step looks past the first one is bounded too.

    Args:
        grants: tokens by request, in order of the first grant; lanes of a step share it.
    """

    def __init__(
        self,
        partial: Iterable[Prefill],
        waiting: Iterable[Prefill],
        admission: Admission,
        grants: dict[Prefill, int],
    ) -> None:
        self._partial = iter(partial)
        self._waiting = iter(waiting)
        self._admission = admission
        self._grants = grants
        self._head: Prefill | None = None
        self._passed: list[Prefill] = []
        self._without_slot: list[Prefill] = []
        self.granted = 0

    @property
    def open(self) -> bool:
        """Whether a request can take tokens."""
        if self._head is None or self._left(self._head) == 0:
            self._head = next(self._partial, None) or self._admit_next()
        return self._head is not None

    def take(self, limit: int) -> int:
        """Grant the head at most `limit` tokens: one opportunity. Returns 0 when not open."""
        if not self.open or self._head is None:
            return 0
        tokens = min(limit, self._left(self._head))
        self._grants[self._head] = self._grants.get(self._head, 0) + tokens
        self.granted += tokens
        return tokens

    def fill(self, limit: int) -> int:
        """Grant tokens in order until `limit` is reached or no request can take any."""
        left = limit
        while left > 0 and self.open:
            left -= self.take(left)
        return limit - left

    def _left(self, prefill: Prefill) -> int:
        return prefill.remaining - self._grants.get(prefill, 0)

    def _admit_next(self) -> Prefill | None:
        while not self._is_closed() and (prefill := next(self._waiting, None)):
            verdict = self._admission.admit(prefill)
            if verdict is Verdict.ADMITTED:
                for passed in self._without_slot:
                    passed.overtaken += 1
                return prefill
            self._passed.append(prefill)
            if verdict is Verdict.NO_SLOT:
                self._without_slot.append(prefill)
        return None

    def _is_closed(self) -> bool:
        """Whether somebody may not be overtaken again, or enough have been looked past."""
        return len(self._passed) >= OVERTAKING_LIMIT or any(
            prefill.overtaken >= OVERTAKING_LIMIT for prefill in self._passed
        )
