"""What one forward pass holds, as far as its duration depends on it."""

from dataclasses import dataclass


@dataclass(slots=True)
class StepLoad:
    """Adds up the rows of a step.

    `kv_tokens`: tokens whose keys and values are read. `pairs`: pairs of a computed token and
    one that it looks at, itself included.
    """

    chunk_tokens: int = 0
    decode_tokens: int = 0
    kv_tokens: int = 0
    pairs: int = 0

    def add_chunk(self, computed: int, tokens: int) -> None:
        """`tokens` of a prompt of which `computed` had been computed before."""
        self.chunk_tokens += tokens
        self.kv_tokens += computed + tokens
        self.pairs += tokens * computed + tokens * (tokens + 1) // 2

    def add_decodes(self, rows: int, context: int) -> None:
        """One token each for `rows` requests with `context` tokens before it in all."""
        self.decode_tokens += rows
        self.kv_tokens += context + rows
        self.pairs += context + rows
