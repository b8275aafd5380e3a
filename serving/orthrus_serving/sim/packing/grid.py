"""The packing simulation over everything that the paper leaves out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from random import Random

from orthrus_serving.sim.packing.iterations import Packed, Packing
from orthrus_serving.sim.packing.settings import Arrivals, Chunks, LeftOut, Stated

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
_CHUNKS: tuple[Chunks, ...] = ("fitting", "cut", "one")


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
    chunked = _run(left_out, seed, iterations, chunked=True)
    return Outcome(
        left_out, _atomic(replace(left_out, chunks=_CHUNKS[0]), seed, iterations), chunked
    )


@cache
def _atomic(left_out: LeftOut, seed: int, iterations: int) -> Packed:
    """Once for points that differ in chunks alone, of which there are none here."""
    return _run(left_out, seed, iterations, chunked=False)


def _run(left_out: LeftOut, seed: int, iterations: int, *, chunked: bool) -> Packed:
    return Packing(Stated(), left_out, chunked, Random(seed)).run(iterations)  # noqa: S311


def grid() -> Iterator[LeftOut]:
    """Every combination."""
    switches = (False, True)
    for (arrivals, load), chunks, *rest, running, charge in product(
        _ARRIVALS, _CHUNKS, switches, switches, switches, switches, (0, 16), (8, 1)
    ):
        by_tokens, whole, alone, strict = rest
        yield LeftOut(arrivals, load, by_tokens, whole, alone, strict, running, charge, chunks)
