"""KV blocks of a replica."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KvSpace:
    """`tokens` of room, in blocks of `block_size` tokens."""

    tokens: int
    block_size: int = 16

    @property
    def blocks(self) -> int:
        return self.tokens // self.block_size

    def blocks_of(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
