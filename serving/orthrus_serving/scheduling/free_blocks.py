"""KV blocks that a step may hand to prefills."""

from collections.abc import Callable
from dataclasses import dataclass

from orthrus_serving.scheduling.prefill import Prefill

BlocksNeeded = Callable[[Prefill, int], int]
"""Blocks that a request needs to compute all that remains of it, given how many are available:
an upper bound will do while it is not above that number."""


@dataclass(frozen=True)
class FreeBlocks:
    """Free blocks before a step, less those that decodes take in it.

    `headroom` is left free by admissions: decodes will need it before the admitted are done.
    `decodes`: whether a request is in decode, and must not lose blocks to a prefill.
    """

    count: int
    needed: BlocksNeeded
    headroom: int = 0
    decodes: bool = False
