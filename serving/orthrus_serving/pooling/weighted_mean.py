"""Mean over all tokens, weighted by position."""

import torch
from torch import Tensor

from orthrus_serving.pooling.head import PoolingHead


class WeightedMeanHead(PoolingHead):
    """Token i of n (from 1) weighs i / (1 + … + n), as in SGPT (arXiv:2202.08904, §3.2).

    State: the running sum of i times the hidden state. Equal to one pass up to the order of
    the fp32 additions.
    """

    needs_every_token = True

    def fold(self, state: Tensor, hidden: Tensor, start: int) -> None:
        positions = torch.arange(
            start + 1, start + len(hidden) + 1, dtype=torch.float32, device=hidden.device
        )
        weighted = hidden.float() * positions.unsqueeze(1)
        if start == 0:
            torch.sum(weighted, 0, out=state)
        else:
            state.add_(weighted.sum(0))

    def vector(self, state: Tensor, prompt_tokens: int) -> Tensor:
        return state / (prompt_tokens * (prompt_tokens + 1) / 2)
