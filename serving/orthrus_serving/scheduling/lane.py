"""One queue of requests in order of service, as one step sees it."""

from collections.abc import Iterable

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.limits import OVERTAKING_LIMIT
from orthrus_serving.scheduling.prefill import Prefill


class Lane:
    """Grants tokens to its head: partly run requests first, then waiting ones as admitted.

    The head keeps its place until all its tokens are granted, so requests finish in order
    rather than all together. A waiting request that is not admitted is passed over; how far a
    step looks past the first one is bounded.

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
        self._passed = 0
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
        while self._passed < OVERTAKING_LIMIT and (prefill := next(self._waiting, None)):
            if self._admission.admit(prefill):
                return prefill
            self._passed += 1
        return None
