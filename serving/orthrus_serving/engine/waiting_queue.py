"""vLLM's waiting queue, backed by the planner's backlog.

While vLLM's scheduling loop runs it sees only the requests that the plan admits, in the plan's
order: the loop breaks at the first request that gets no tokens, and re-queues every request that
it skips, so a queue that showed all of them would cost and decide too much.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from vllm.v1.core.sched.request_queue import RequestQueue
from vllm.v1.request import Request, RequestStatus

from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.prefill import Prefill


class WaitingQueue(RequestQueue):
    """Order of arrival within a task; a request that comes back takes its old place.

    Requests that cannot be scheduled yet for reasons of their own are held out of the backlog:
    they neither weigh in the shares nor block those behind them.

    Args:
        prefills: the planner's view of every live request, by request id.
    """

    def __init__(self, backlog: Backlog, prefills: Mapping[str, Prefill]) -> None:
        self._backlog = backlog
        self._prefills = prefills
        self._ready: dict[str, Request] = {}
        self._held: OrderedDict[str, Request] = OrderedDict()
        self._offered: deque[Request] = deque()

    def offer(self, prefills: Iterable[Prefill]) -> None:
        """Show these waiting requests to vLLM's loop, after those already on offer."""
        self._offered.extend(self._ready[prefill.request_id] for prefill in prefills)

    def withdraw_offer(self) -> None:
        self._offered.clear()

    def is_last_on_offer(self, request: Request) -> bool:
        return len(self._offered) == 1 and self._offered[0] is request

    def release_held(self, is_ready: Callable[[Request], bool], limit: int) -> None:
        """Ask `is_ready` for at most `limit` held requests, in turn; those that are, wait."""
        for _ in range(min(limit, len(self._held))):
            request_id, request = self._held.popitem(last=False)
            if is_ready(request):
                self._wait(request)
            else:
                self._held[request_id] = request

    def add_request(self, request: Request) -> None:
        if _is_held(request):
            self._held[request.request_id] = request
            self._backlog.set_remaining(self._prefills[request.request_id], 0)
        else:
            self._wait(request)

    def prepend_request(self, request: Request) -> None:
        """A preempted request: its arrival puts it back in front."""
        self.add_request(request)

    def prepend_requests(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.add_request(request)

    def peek_request(self) -> Request:
        return self._offered[0]

    def pop_request(self) -> Request:
        request = self._offered.popleft()
        del self._ready[request.request_id]
        self._backlog.admit(self._prefills[request.request_id])
        return request

    def remove_request(self, request: Request) -> None:
        """Forget a finished or aborted request; one that does not wait here is ignored."""
        self._held.pop(request.request_id, None)
        if self._ready.pop(request.request_id, None) is not None:
            self._backlog.drop(self._prefills[request.request_id])

    def remove_requests(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.remove_request(request)

    def __bool__(self) -> bool:
        return bool(self._offered)

    def __len__(self) -> int:
        """All that wait, on offer or not."""
        return len(self._ready) + len(self._held)

    def __iter__(self) -> Iterator[Request]:
        yield from self._ready.values()
        yield from self._held.values()

    def _wait(self, request: Request) -> None:
        self._ready[request.request_id] = request
        remaining = request.num_tokens - request.num_computed_tokens
        self._backlog.enqueue(self._prefills[request.request_id], remaining)


def _is_held(request: Request) -> bool:
    """A grammar is still compiling, or output of before a preemption is still on its way."""
    if request.num_stale_output_tokens and not request.drop_stale_output:
        return True
    return request.status not in (RequestStatus.WAITING, RequestStatus.PREEMPTED)
