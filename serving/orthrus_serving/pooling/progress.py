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
    state: Tensor | None = None
    seen: int = 0
    """Prompt tokens, counted from the first, that are in the state."""
    failure: str = "its tokens were not all seen"
    """Why there is no vector, if there is none in the end."""

    def begin(self, slot: int, row: Tensor) -> None:
        """Take `row`, which is slot `slot`."""
        self.slot = slot
        if self.head is None:
            self.failure = f"no pooling head is called {self.request.method}"
            return
        try:
            self.state = self.head.begin(row, self.request.prompt_tokens)
        except RuntimeError as error:  # torch's word for a lack of memory
            self.failure = str(error)

    def fold(self, hidden: Tensor, chunk: Chunk) -> None:
        """Fold in `chunk`, whose hidden states are `hidden`. Token 0 begins anew; a chunk that
        does not continue the state is left out, unless the head may skip what came before."""
        if self.head is None or self.state is None:
            return
        if chunk.start == 0 or not self.head.needs_every_token:
            self.seen = chunk.start
        if chunk.start == self.seen:
            self.head.fold(self.state, hidden, chunk.start)
            self.seen += chunk.tokens

    def vector(self) -> Tensor | None:
        """The pooled vector; None when the state does not stand for the whole prompt, or the
        head fails."""
        if self.head is None or self.state is None or self.seen != self.request.prompt_tokens:
            return None
        try:
            return self.head.vector(self.state, self.request.prompt_tokens)
        except Exception as error:  # of a function that is not ours
            self.failure = f"{self.request.method}: {type(error).__name__}: {error}"
            return None

    def end(self) -> int | None:
        """Forget the state; returns the slot that is free now."""
        slot, self.slot, self.state, self.seen = self.slot, None, None, 0
        return slot
