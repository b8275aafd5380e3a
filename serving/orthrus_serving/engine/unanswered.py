"""Embeddings that were computed to the end but got no vector from the worker."""

import torch
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs, FinishReason
from vllm.v1.request import Request, RequestStatus


def fail_unanswered_embeddings(
    scheduler: Scheduler, step: SchedulerOutput, outputs: dict[int, EngineCoreOutputs]
) -> None:
    """End such requests with an empty tensor, which the front end answers with a 500.

    vLLM ends a pooling request when its output arrives. One that never does would stay in the
    batch, without tokens to schedule, for ever.
    """
    for request_id in step.num_scheduled_tokens:
        request = scheduler.requests.get(request_id)
        if request is None or not _is_unanswered(request):
            continue
        scheduler.finish_requests(request_id, RequestStatus.FINISHED_ERROR)
        client = outputs.setdefault(request.client_index, EngineCoreOutputs())
        client.outputs.append(
            EngineCoreOutput(
                request_id=request_id,
                new_token_ids=[],
                pooling_output=torch.empty(0),
                finish_reason=FinishReason.ERROR,
            )
        )


def _is_unanswered(request: Request) -> bool:
    return (
        request.pooling_params is not None
        and request.status == RequestStatus.RUNNING
        and request.num_in_flight_tokens == 0
        and request.num_computed_tokens >= request.num_tokens
    )
