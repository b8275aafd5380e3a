"""Any function of all hidden states, at the price of keeping them."""

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead

PoolingFunction = Callable[[Tensor], Tensor]
"""From the hidden states of a prompt, fp32 [tokens, hidden size], to one vector [hidden size]."""


class BufferedHead(PoolingHead):
    """State: all hidden states, O(tokens x hidden size) of memory. Exact (paper §3.2).

    Args:
        load: finds the function; called once, when it is first needed.
    """

    needs_every_token = True

    def __init__(self, load: Callable[[], PoolingFunction]) -> None:
        self._load = load

    @cached_property
    def _function(self) -> PoolingFunction:
        return self._load()

    def prepare(self) -> None:
        """Find the function now. Raises whatever keeps it from being found."""
        _ = self._function

    def begin(self, row: Tensor, prompt_tokens: int) -> Tensor:
        return torch.empty(prompt_tokens, len(row), dtype=row.dtype, device=row.device)

    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        state[start : start + len(hidden)] = hidden

    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        vector = self._function(state)
        if vector.shape != state.shape[1:]:
            raise ValueError(
                f"its pooling function returned shape {tuple(vector.shape)} instead of "
                f"{tuple(state.shape[1:])}"
            )
        # Whatever type, device or layout it has: what cannot be copied fails here, alone.
        return state.new_empty(vector.shape).copy_(vector)
