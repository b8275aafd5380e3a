"""The packing simulation over everything that the paper leaves out."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from orthrus_serving.sim.packing.iterations import Packed, Packing
from orthrus_serving.sim.packing.settings import Arrivals, LeftOut, Stated

PUBLISHED_ATOMIC, PUBLISHED_CHUNKED = 0.088, 0.857
ITERATIONS = 4_000
_ARRIVALS: tuple[tuple[Arrivals, float], ...] = (
    ("closed", 16),
    ("closed", 20),
    ("closed", 24),
    ("closed", 64),
    ("closed", 256),
    ("poisson", 0.2),
    ("poisson", 0.8),
    ("poisson", 1.0),
    ("poisson", 1.2),
)


@dataclass(frozen=True)
class Outcome:
    """Both conditions at one point of the grid."""

    left_out: LeftOut
    atomic: Packed
    chunked: Packed

    @property
    def distance(self) -> float:
        """From the published fills, both counted alike."""
        atomic = abs(self.atomic.fill - PUBLISHED_ATOMIC)
        return atomic + abs(self.chunked.fill - PUBLISHED_CHUNKED)


def pack(left_out: LeftOut, seed: int, iterations: int = ITERATIONS) -> Outcome:
    """Both conditions see the same draws as long as they ask for them in the same order."""
    atomic, chunked = (
        Packing(Stated(), left_out, chunked, Random(seed)).run(iterations)  # noqa: S311
        for chunked in (False, True)
    )
    return Outcome(left_out, atomic, chunked)


def grid() -> Iterator[LeftOut]:
    """Every combination."""
    switches = (False, True)
    for (arrivals, load), *rest, running, charge in product(
        _ARRIVALS, switches, switches, switches, switches, (0, 16), (8, 1)
    ):
        by_tokens, whole, alone, strict = rest
        yield LeftOut(arrivals, load, by_tokens, whole, alone, strict, running, charge)
