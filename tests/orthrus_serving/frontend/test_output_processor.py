from collections.abc import Iterator

import pytest
import torch
from vllm import PoolingParams
from vllm.outputs import PoolingRequestOutput
from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.output_processor import RequestOutputCollector

from orthrus_serving.engine.frontend.output_processor import OrthrusOutputProcessor
from orthrus_serving.engine.http_request import HttpRequest, current_http_request
from orthrus_serving.engine.queued_tokens import QueuedTokens


@pytest.fixture
def processor() -> OrthrusOutputProcessor:
    return OrthrusOutputProcessor(None, log_stats=False)


def _add_embedding(processor: OrthrusOutputProcessor, name: str) -> RequestOutputCollector:
    params = PoolingParams(task="embed")
    request = EngineCoreRequest(
        request_id=name,
        external_req_id=name,
        prompt_token_ids=[1, 2],
        mm_features=None,
        sampling_params=None,
        pooling_params=params,
        arrival_time=0.0,
        lora_request=None,
        cache_salt=None,
        data_parallel_rank=None,
    )
    queue = RequestOutputCollector(params.output_kind, name)
    processor.add_request(request, None, None, 0, queue)
    return queue


@pytest.fixture
def http_request() -> Iterator[HttpRequest]:
    request = HttpRequest("id")
    token = current_http_request.set(request)
    yield request
    current_http_request.reset(token)


def test_the_first_output_of_a_prompt_gives_its_place_back(
    processor: OrthrusOutputProcessor, http_request: HttpRequest
) -> None:
    queue = QueuedTokens(4)
    http_request.hold(4, queue.reserve(4))
    for name in ("first", "second"):
        _add_embedding(processor, name)
    current_http_request.set(None)  # outputs come in a task of their own
    assert http_request.first_output_seconds is None
    vector = EngineCoreOutput(
        request_id="first",
        new_token_ids=[],
        pooling_output=torch.ones(3),
        finish_reason=FinishReason.STOP,
    )
    processor.process_outputs([vector])
    assert queue.reserved == 2
    assert http_request.first_output_seconds is not None


def test_a_failed_request_and_a_dead_engine_are_noted_on_the_http_request(
    processor: OrthrusOutputProcessor, http_request: HttpRequest
) -> None:
    _add_embedding(processor, "failed")
    failed = EngineCoreOutput(
        request_id="failed", new_token_ids=[], finish_reason=FinishReason.ERROR
    )
    processor.process_outputs([failed])
    assert http_request.engine_failed
    assert http_request.first_output_seconds is None
    http_request.engine_failed = False
    _add_embedding(processor, "other")
    processor.propagate_error(RuntimeError("the engine died"))
    assert http_request.engine_failed


@pytest.mark.parametrize("reason", [FinishReason.ABORT, FinishReason.ERROR])
def test_an_embedding_that_ends_without_a_vector_gets_the_empty_one(
    processor: OrthrusOutputProcessor, reason: FinishReason
) -> None:
    ended, other = _add_embedding(processor, "ended"), _add_embedding(processor, "other")
    vector = torch.ones(3)
    processor.process_outputs(
        [
            EngineCoreOutput(request_id="ended", new_token_ids=[], finish_reason=reason),
            EngineCoreOutput(
                request_id="other",
                new_token_ids=[],
                pooling_output=vector,
                finish_reason=FinishReason.STOP,
            ),
        ]
    )
    nothing, answer = ended.get_nowait(), other.get_nowait()
    assert isinstance(nothing, PoolingRequestOutput)
    assert nothing.outputs.data.numel() == 0
    assert isinstance(answer, PoolingRequestOutput)
    assert answer.outputs.data is vector


def test_an_unfinished_embedding_without_a_vector_stays_in_work(
    processor: OrthrusOutputProcessor,
) -> None:
    queue = _add_embedding(processor, "running")
    processor.process_outputs([EngineCoreOutput(request_id="running", new_token_ids=[])])
    assert queue.get_nowait() is None
    assert processor.has_request("running")
