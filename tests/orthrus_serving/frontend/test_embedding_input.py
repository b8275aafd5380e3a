import pytest
import torch
from vllm.exceptions import VLLMValidationError

from orthrus_serving.engine.frontend.embedding_input import (
    shorten,
    with_end_token,
    with_instruction,
)

END, LENGTH = 9, 4


@pytest.mark.parametrize(
    ("tokens", "truncate", "side", "expected"),
    [
        ([1], None, None, [1, END]),
        ([1, 2, 3], None, None, [1, 2, 3, END]),
        ([1, END], None, None, [1, END]),
        ([1, 2, 3, END], None, None, [1, 2, 3, END]),
        ([1, 2], 2, None, [1, END]),
        ([1, 2], 2, "right", [1, END]),
        ([1, 2], 2, "left", [2, END]),
        ([1], 1, "left", [END]),
        ([1, 2, 3, 4], -1, None, [1, 2, 3, END]),
        ([1, 2, 3, 4], -1, "left", [2, 3, 4, END]),
    ],
)
def test_the_end_token_is_last_and_counts(
    tokens: list[int], truncate: int | None, side: None, expected: list[int]
) -> None:
    assert with_end_token(tokens, END, LENGTH, truncate, side) == expected


def test_an_end_token_that_does_not_fit_is_refused_with_both_numbers() -> None:
    with pytest.raises(VLLMValidationError, match=r"4 tokens.* 4 and"):
        with_end_token([1, 2, 3, 4], END, LENGTH, None, None)


def test_an_instruction_precedes_texts_only() -> None:
    assert with_instruction("x", "query: ") == "query: x"
    assert with_instruction(["x", "y"], "query: ") == ["query: x", "query: y"]
    for ids in ([1, 2], [[1], [2, 3]]):
        assert with_instruction(ids, "query: ") == ids
    assert with_instruction("", "") == ""
    for empty in ("", ["x", ""]):
        with pytest.raises(VLLMValidationError, match="empty"):
            with_instruction(empty, "query: ")


def test_a_vector_is_cut_before_it_is_scaled() -> None:
    vector = torch.tensor([3.0, 4.0, 12.0])
    assert shorten(vector, 2, normalized=True).tolist() == pytest.approx([0.6, 0.8])
    assert shorten(vector, 2, normalized=False).tolist() == [3.0, 4.0]
