from typing import Any

import pytest
import torch
from pydantic import TypeAdapter
from vllm.entrypoints.pooling.embed.protocol import EmbeddingRequest
from vllm.exceptions import GenerationError, VLLMValidationError

from orthrus_serving.engine.frontend.embeddings import require_vectors
from orthrus_serving.engine.frontend.request_rules import (
    MOST_INPUTS,
    require_integer_tokens,
    require_served,
)
from orthrus_serving.engine.http_request import HttpRequest, current_http_request


@pytest.mark.parametrize("given", ["x", ["x", "y"], [1, 2], [[1], [2, 3]], [], [[]], None])
def test_texts_and_integers_pass(given: object) -> None:
    require_integer_tokens({"input": given}, "input")


@pytest.mark.parametrize(
    "given", [[True], [1.0], [1, False], [[1, True]], [[1], [2.0]], [1, "2"], [["1"]]]
)
def test_what_pydantic_would_turn_into_integers_is_refused(given: object) -> None:
    with pytest.raises(VLLMValidationError, match="integers"):
        require_integer_tokens({"input": given}, "input")


MESSAGE = {"role": "user", "content": "hello"}
EMBEDDING_REQUEST: TypeAdapter[Any] = TypeAdapter(EmbeddingRequest)


@pytest.mark.parametrize(
    ("field", "one"),
    [("input", "x"), ("input", [1]), ("input", [MESSAGE]), ("messages", [MESSAGE])],
)
def test_more_inputs_than_are_allowed_are_refused_whatever_they_are(
    field: str, one: object
) -> None:
    most, more = (
        EMBEDDING_REQUEST.validate_python({"model": "m", field: [one] * count})
        for count in (MOST_INPUTS, MOST_INPUTS + 1)
    )
    require_served(most, 100)
    with pytest.raises(VLLMValidationError, match=f"holds {MOST_INPUTS + 1} inputs"):
        require_served(more, 100)


@pytest.mark.parametrize("field", ["input", "messages"])
def test_a_long_conversation_is_one_input(field: str) -> None:
    conversation = [MESSAGE] * (MOST_INPUTS + 1)
    require_served(EMBEDDING_REQUEST.validate_python({"model": "m", field: conversation}), 100)


@pytest.mark.parametrize(
    "vector",
    [
        torch.empty(0),
        torch.tensor([1.0, torch.nan]),
        torch.tensor([torch.inf, 0.0]),
        torch.zeros(2),
    ],
)
def test_a_missing_or_broken_vector_is_a_server_error_that_names_its_input(
    vector: torch.Tensor,
) -> None:
    require_vectors([torch.ones(2)])
    with pytest.raises(GenerationError, match="input 1") as error:
        require_vectors([torch.ones(2), vector])
    assert error.value.status_code == 500


def test_every_broken_vector_of_a_request_is_counted() -> None:
    request = HttpRequest("r")
    token = current_http_request.set(request)
    try:
        with pytest.raises(GenerationError):
            require_vectors([torch.zeros(2), torch.ones(2), torch.tensor([torch.nan, 1.0])])
    finally:
        current_http_request.reset(token)
    assert request.broken_vectors == 2
