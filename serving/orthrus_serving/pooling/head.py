"""What every pooling head is: a fold over chunks."""

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor


class PoolingHead(ABC):
    """Turns the hidden states of a prompt into one vector.

    A head has no state of its own: `state` is the request's, and a head may only write it in
    place. A fold at `start` 0 overwrites it, so a request that begins again needs no clearing.
    """

    needs_every_token: ClassVar[bool]
    """False when a prompt's first tokens may be skipped, as a prefix-cache hit does."""

    def begin(self, row: Tensor, prompt_tokens: int) -> Tensor:
        """The state of a new request. `row`, fp32 [hidden size], is its own until it ends, and is
        state enough for most heads."""
        return row

    @abstractmethod
    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        """Take in one chunk, `hidden` of shape [tokens, hidden size], whose first token has
        position `start` in the prompt."""

    @abstractmethod
    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        """The pooled vector, fp32 [hidden size], once all of the prompt is folded in; may be
        `state` itself."""
