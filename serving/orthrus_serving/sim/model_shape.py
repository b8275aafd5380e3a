"""Sizes of a model that decide what a step reads and computes."""

from dataclasses import dataclass
from functools import cached_property

BYTES = 2
"""Of a weight and of a number in the KV cache: 16 bit, as in the paper."""


@dataclass(frozen=True)
class ModelShape:
    """A decoder-only transformer; `parameters` without the input embedding, which is looked up."""

    name: str
    parameters: float
    layers: int
    query_heads: int
    kv_heads: int
    head_size: int

    @cached_property
    def weight_bytes(self) -> float:
        """Read once in every step."""
        return BYTES * self.parameters

    @cached_property
    def kv_bytes_per_token(self) -> int:
        """Keys and values of all layers."""
        return 2 * BYTES * self.layers * self.kv_heads * self.head_size

    @cached_property
    def flops_per_token(self) -> float:
        """Of the matrices: a multiplication and an addition for each weight."""
        return 2 * self.parameters

    @cached_property
    def flops_per_pair(self) -> int:
        """Of attention, for each pair of a token and one that it looks at."""
        return 4 * self.layers * self.query_heads * self.head_size


# Sizes are those of the published configurations.
MISTRAL_7B = ModelShape("Mistral-7B", 7.11e9, 32, 32, 8, 128)
QWEN2_7B = ModelShape("Qwen2-7B", 7.07e9, 28, 28, 4, 128)
LLAMA31_8B = ModelShape("LLaMA3.1-8B", 7.50e9, 32, 32, 8, 128)

MODELS = {each.name.lower(): each for each in (MISTRAL_7B, QWEN2_7B, LLAMA31_8B)}
