"""What an adapter does to the inputs and vectors of its requests; pure."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch.nn.functional import normalize
from vllm.exceptions import GenerationError, VLLMValidationError


def with_instruction(given: Any, instruction: str) -> Any:
    """The `input` of a request with the instruction before each text; token ids stay."""
    if not instruction:
        return given
    if isinstance(given, str):
        return _prefixed(given, instruction)
    if isinstance(given, list):
        return [_prefixed(item, instruction) if isinstance(item, str) else item for item in given]
    return given


def _prefixed(text: str, instruction: str) -> str:
    if not text:
        raise VLLMValidationError("an input is empty", parameter="input")
    return instruction + text


def with_end_token(
    tokens: Sequence[int],
    end_token: int,
    model_length: int,
    truncate: int | None,
    side: Literal["left", "right"] | None,
) -> list[int]:
    """`tokens`, already truncated as asked, with the end token as their last.

    It counts in the length that was asked for, and is not put twice.

    Raises VLLMValidationError when it does not fit the model.
    """
    if tokens and tokens[-1] == end_token:
        return list(tokens)
    room = (model_length if truncate in (None, -1) else truncate) - 1
    if len(tokens) > room and truncate is None:
        raise VLLMValidationError(
            f"This model's maximum context length is {model_length} tokens. However, your prompt "
            f"contains {len(tokens)} and this adapter's end token. Please reduce the length of "
            "the input prompt.",
            parameter="input",
        )
    kept = list(tokens[max(0, len(tokens) - room) :] if side == "left" else tokens[:room])
    return [*kept, end_token]


def shorten(vector: torch.Tensor, size: int, *, normalized: bool) -> torch.Tensor:
    """The first `size` numbers, scaled to length 1 after the cut, not before.

    Raises GenerationError when there are fewer, as a head of another package may give.
    """
    if len(vector) < size:
        raise GenerationError(f"the vectors of this model have only {len(vector)} numbers")
    cut = vector[:size]
    return normalize(cut, dim=-1) if normalized else cut
