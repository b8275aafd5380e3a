"""What every pooling head is: a fold over chunks with a state of one vector."""

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor


class PoolingHead(ABC):
    """Turns the hidden states of a prompt into one vector without keeping them.

    A head has no state of its own: `state` is the request's fp32 row of shape [hidden], which a
    head may only write in place. A fold at `start` 0 overwrites it, so a request that begins
    again needs no clearing.
    """

    needs_every_token: ClassVar[bool]
    """False when a prompt's first tokens may be skipped, as a prefix-cache hit does."""

    @abstractmethod
    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        """Take in one chunk, `hidden` of shape [tokens, hidden size], whose first token has
        position `start` in the prompt."""

    @abstractmethod
    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        """The pooled vector, fp32 [hidden size], once all of the prompt is folded in; may be
        `state` itself."""
