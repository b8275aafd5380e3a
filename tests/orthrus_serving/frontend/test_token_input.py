import pytest
from vllm.exceptions import VLLMValidationError

from orthrus_serving.engine.frontend.embeddings import require_integer_tokens


@pytest.mark.parametrize("given", ["x", ["x", "y"], [1, 2], [[1], [2, 3]], [], [[]], None])
def test_texts_and_integers_pass(given: object) -> None:
    require_integer_tokens({"input": given})


@pytest.mark.parametrize("given", [[True], [1.0], [1, False], [[1, True]], [[1], [2.0]]])
def test_what_pydantic_would_turn_into_integers_is_refused(given: object) -> None:
    with pytest.raises(VLLMValidationError, match="integers"):
        require_integer_tokens({"input": given})
