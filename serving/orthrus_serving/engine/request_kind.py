"""What a vLLM request is to the planner."""

from vllm.v1.request import Request, RequestStatus

from orthrus_serving.scheduling.task import Task


def task_of(request: Request) -> Task:
    return Task.GENERATION if request.pooling_params is None else Task.EMBEDDING


def adapter_of(request: Request) -> int:
    """LoRA id; 0 is the backbone."""
    return request.lora_request.lora_int_id if request.lora_request else 0


def is_decode(request: Request) -> bool:
    """A running generation whose prompt is computed."""
    return (
        request.pooling_params is None
        and request.status == RequestStatus.RUNNING
        and not request.is_prefill_chunk
    )


class WorkToLose:
    """How dear a preemption of a request would be, as vLLM compares priorities: the highest goes.

    The dearer, the more tokens would be computed again, and an embedding is dearer than any
    generation. What is pooled of it exists nowhere else, while the blocks of a generation may
    still be found in the prefix cache, and it never asks for more blocks than it was admitted
    for, so it ends and gives them back.

    Compared only when vLLM looks for a victim, so that a step without one pays nothing.
    """

    def __init__(self, request: Request) -> None:
        self._request = request

    def _cost(self) -> tuple[bool, int, float]:
        request = self._request
        is_embedding = request.pooling_params is not None
        return is_embedding, request.num_computed_tokens, -request.arrival_time

    def __lt__(self, other: "WorkToLose") -> bool:
        return self._cost() > other._cost()
