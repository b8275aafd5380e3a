"""Distributions of lengths in tokens."""

from dataclasses import dataclass
from random import Random
from typing import Protocol


class Lengths(Protocol):
    """Lengths are at least 1."""

    def draw(self, random: Random) -> int: ...


@dataclass(frozen=True)
class Fixed:
    tokens: int

    def draw(self, random: Random) -> int:
        return self.tokens


@dataclass(frozen=True)
class Uniform:
    low: int
    high: int

    def draw(self, random: Random) -> int:
        return random.randint(self.low, self.high)


@dataclass(frozen=True)
class Exponential:
    """With this mean before it is cut at `most`."""

    mean: float
    most: int

    def draw(self, random: Random) -> int:
        return min(self.most, 1 + int(random.expovariate(1 / self.mean)))


def parse_lengths(text: str) -> Lengths:
    """`128`, `64-512` (uniform) or `exp:500:2000` (mean and maximum).

    Raises ValueError with what is wrong.
    """
    kind, *numbers = text.split(":") if text.startswith("exp:") else ("", *text.split("-"))
    try:
        values = [int(number) for number in numbers]
    except ValueError:
        values = []
    if not values or len(values) > 2 or min(values) < 1 or values != sorted(values):
        raise ValueError(
            f"lengths {text!r}: write 128, 64-512 or exp:500:2000, in tokens from 1 up"
        )
    if kind and len(values) == 2:
        return Exponential(*values)
    if kind:
        raise ValueError(f"lengths {text!r}: exp needs a mean and a maximum, as in exp:500:2000")
    return Fixed(*values) if len(values) == 1 else Uniform(*values)
