"""How far one request's prompt is folded into its state."""

from dataclasses import dataclass

from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead


@dataclass(frozen=True)
class PoolingRequest:
    """How to pool one request."""

    method: str
    """A name in `HEADS`."""
    prompt_tokens: int
    normalize: bool
    """Scale the vector to Euclidean length 1."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive tokens of one request in one step."""

    request_id: str
    row: int
    """Row of the first token in the step's hidden states."""
    tokens: int
    start: int
    """Position of the first token in the prompt."""

    @property
    def end(self) -> int:
        return self.start + self.tokens


@dataclass
class Progress:
    """One live request and how much of its prompt the state stands for."""

    request: PoolingRequest
    head: PoolingHead | None
    """None when the request names no known head."""
    slot: int | None = None
    seen: int = 0
    """Prompt tokens, counted from the first, that are in the state."""

    def fold(self, state: Tensor, hidden: Tensor, chunk: Chunk) -> None:
        """Fold in `chunk`, whose hidden states are `hidden`. Token 0 begins anew; a chunk that
        does not continue the state is left out, unless the head may skip what came before."""
        if self.head is None:
            return
        if chunk.start == 0 or not self.head.needs_every_token:
            self.seen = chunk.start
        if chunk.start == self.seen:
            self.head.fold(state, hidden, chunk.start)
            self.seen += chunk.tokens

    def vector(self, state: Tensor) -> Tensor | None:
        """The pooled vector; None when the state does not stand for the whole prompt."""
        if self.head is None or self.seen != self.request.prompt_tokens:
            return None
        return self.head.vector(state, self.request.prompt_tokens)
