"""The plan of a step while vLLM's scheduling loop spends it."""

from vllm.v1.request import Request, RequestStatus

from orthrus_serving.engine.request_kind import is_decode
from orthrus_serving.engine.waiting_queue import WaitingQueue
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.task import Task


class Allotment:
    """Caps each request at its grant, and passes on what is not needed.

    Spare tokens are those that no planned request can take, and grants that turn out larger than
    needed (a prefix cache hit). Admitted requests may use them beyond their grant; running ones
    may not, since the plan counted on their blocks for the grant only. What is left at the last
    planned request goes to further waiting ones.
    """

    def __init__(
        self, step: Step, plan: StepPlan, waiting: WaitingQueue, max_model_len: int
    ) -> None:
        self._step = step
        self._plan = plan
        self._waiting = waiting
        self._max_model_len = max_model_len
        self._grants = {prefill.request_id: tokens for prefill, tokens in plan.grants.items()}
        self._spare = plan.unplanned
        self._decodes_run = Task.GENERATION in plan.tasks
        waiting.offer(prefill for prefill in plan.grants if prefill.waiting)

    def spend(self, request: Request, num_computed_tokens: int, wanted: int) -> int:
        """Tokens for `request`, which could take `wanted`; vLLM's loop asks about each once."""
        if is_decode(request):
            return wanted if self._decodes_run else 0
        wanted += self._withheld(request, num_computed_tokens + wanted)
        grant = self._grants.pop(request.request_id, 0)
        running = request.status == RequestStatus.RUNNING
        tokens = min(wanted, grant if running else grant + self._spare)
        self._spare += grant - tokens
        if self._spare and self._waiting.is_last_on_offer(request):
            self._pass_on()
        return tokens

    def _withheld(self, request: Request, end: int) -> int:
        """vLLM stops every request one token short of the model length, where a sampled token
        would not fit. An embedding samples none, and would never finish.
        """
        last = self._max_model_len - 1
        is_embedding = request.pooling_params is not None
        return int(is_embedding and end == request.num_tokens - 1 == last)

    def _pass_on(self) -> None:
        planned = self._plan
        self._plan = self._step.pass_on(planned, self._spare)
        further = {p: n for p, n in self._plan.grants.items() if p not in planned.grants}
        self._grants.update({prefill.request_id: n for prefill, n in further.items()})
        self._spare -= sum(further.values())
        self._waiting.offer(further)
