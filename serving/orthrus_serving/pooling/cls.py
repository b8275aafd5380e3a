"""The first token's hidden state."""

from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead


class ClsHead(PoolingHead):
    """State: the first token's hidden state. Exact."""

    needs_every_token = True

    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        if start == 0:
            state.copy_(hidden[0])

    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        return state
