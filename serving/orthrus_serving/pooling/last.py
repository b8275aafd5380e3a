"""The last token's hidden state."""

from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead


class LastHead(PoolingHead):
    """State: the newest token's hidden state. Exact, and blind to how the prompt began."""

    needs_every_token = False

    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        state.copy_(hidden[-1])

    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        return state
