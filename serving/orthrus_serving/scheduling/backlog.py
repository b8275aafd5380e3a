"""Everything that still has prefill tokens to schedule, with running totals."""

from collections.abc import Iterator

from orthrus_serving.scheduling.arrival_queue import ArrivalQueue
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task


class Backlog:
    """The waiting queues, and the totals over waiting and partly run requests.

    The totals are the weights w_e and w_g of the paper (§4.2) and the autoscaling signal; every
    change updates them, so no step ever sums over a queue.
    """

    def __init__(self) -> None:
        self._queues = {task: ArrivalQueue() for task in Task}
        self._tokens = dict.fromkeys(Task, 0)
        self._requests = dict.fromkeys(Task, 0)

    def tokens(self, task: Task) -> int:
        """Prefill tokens not yet scheduled, of waiting and running requests."""
        return self._tokens[task]

    def requests(self, task: Task) -> int:
        """Requests that have such tokens."""
        return self._requests[task]

    def waiting(self, task: Task) -> Iterator[Prefill]:
        """Waiting requests in order of arrival; lazy, so a step pays for what it looks at."""
        return iter(self._queues[task])

    def oldest_age(self, task: Task, now: float) -> float:
        """Seconds since the first of the waiting requests arrived; 0 when none waits."""
        first = next(self.waiting(task), None)
        return now - first.arrived_at if first else 0.0

    def enqueue(self, prefill: Prefill, tokens: int) -> None:
        """Let a new or a returning request wait, with `tokens` left to schedule."""
        prefill.waiting = True
        self._queues[prefill.task].add(prefill)
        self.set_remaining(prefill, tokens)

    def admit(self, prefill: Prefill) -> None:
        """The request leaves its queue and runs; its tokens stay in the totals."""
        self._queues[prefill.task].remove(prefill)
        prefill.waiting = False
        prefill.overtaken = 0

    def drop(self, prefill: Prefill) -> None:
        """The request needs nothing any more: finished or aborted. Doing it twice is harmless."""
        if prefill.waiting:
            self.admit(prefill)
        self.set_remaining(prefill, 0)

    def set_remaining(self, prefill: Prefill, tokens: int) -> None:
        self._tokens[prefill.task] += tokens - prefill.remaining
        self._requests[prefill.task] += (tokens > 0) - (prefill.remaining > 0)
        prefill.remaining = tokens
