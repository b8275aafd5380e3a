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
