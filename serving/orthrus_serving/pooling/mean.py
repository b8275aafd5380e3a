"""Mean over all tokens."""

import torch
from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead


class MeanHead(PoolingHead):
    """State: the running sum. Equal to one pass up to the order of the fp32 additions."""

    needs_every_token = True

    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        if start == 0:
            torch.sum(hidden, 0, dtype=torch.float32, out=state)
        else:
            state.add_(hidden.sum(0, dtype=torch.float32))

    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        return state / prompt_tokens
