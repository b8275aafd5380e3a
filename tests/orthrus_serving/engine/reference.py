"""What Transformers says about the same checkpoint, in fp32 and in one pass."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModel

ONE_PASS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda hidden: hidden.mean(0),
    "weighted-mean": lambda hidden: (
        torch.arange(1, len(hidden) + 1, dtype=hidden.dtype)
        @ hidden
        / sum(range(1, len(hidden) + 1))
    ),
    "last": lambda hidden: hidden[-1],
    "cls": lambda hidden: hidden[0],
    "max": lambda hidden: hidden.amax(0),
}
METHODS = sorted(ONE_PASS)


class Reference:
    """The model without vLLM."""

    def __init__(self, checkpoint: Path) -> None:
        self._model = AutoModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
        self._known: dict[tuple[int, ...], Tensor] = {}

    def hidden_states(self, tokens: list[int]) -> Tensor:
        """Of the last layer, fp64 [tokens, hidden size]; computed once for each prompt."""
        key = tuple(tokens)
        if key not in self._known:
            with torch.inference_mode():
                self._known[key] = self._model(torch.tensor([tokens])).last_hidden_state[0].double()
        return self._known[key]

    def vector(self, tokens: list[int], method: str) -> Tensor:
        """The pooled hidden states, fp64 [hidden size], not normalised."""
        return ONE_PASS[method](self.hidden_states(tokens))


def assert_same(vector: Tensor, expected: Tensor) -> None:
    """Cosine above 0.9999 and relative L2 distance below 1 %."""
    assert vector.shape == expected.shape
    vector = vector.double()
    cosine = torch.dot(vector, expected) / (vector.norm() * expected.norm())
    distance = (vector - expected).norm() / expected.norm()
    assert cosine > 0.9999, f"cosine {cosine:.6f}"
    assert distance < 0.01, f"relative L2 {distance:.4%}"
