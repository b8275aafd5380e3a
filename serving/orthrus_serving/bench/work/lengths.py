"""How long prompts and outputs are, in tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_FORMS = "128, uniform:LOW,HIGH, choice:A,B,…, lognormal:MEDIAN,SIGMA,MOST or exponential:MEAN,MOST"


@dataclass(frozen=True)
class Lengths:
    """A distribution of whole numbers above zero, written as its users write it."""

    text: str
    draw: Callable[[np.random.Generator], int]
    mean: float

    def __str__(self) -> str:
        return self.text


def parse_lengths(text: str) -> Lengths:
    """The distribution that `text` names.

    Raises:
        ValueError: no such form, or numbers out of range.
    """
    name, _, rest = text.rpartition(":")
    try:
        numbers = [float(part) for part in rest.split(",")]
        draw = _DISTRIBUTIONS[name](*numbers)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"lengths {text!r}: write {_FORMS}") from None
    if (
        min(numbers) <= 0
        or not _are_whole(name, numbers)
        or (name == "uniform" and numbers[0] > numbers[1])
    ):
        raise ValueError(
            f"lengths {text!r}: numbers must be above zero, counts of tokens whole, and LOW at"
            " most HIGH"
        )
    return Lengths(text, draw, _mean(draw))


def _are_whole(name: str, numbers: Sequence[float]) -> bool:
    """Whether those that count tokens do; a median, a mean and a sigma need not be whole."""
    counts = numbers[-1:] if name in ("lognormal", "exponential") else numbers
    return all(number.is_integer() for number in counts)


Draw = Callable[[np.random.Generator], int]


def _fixed(length: float) -> Draw:
    return lambda _: int(length)


def _uniform(low: float, high: float) -> Draw:
    return lambda rng: int(rng.integers(int(low), int(high), endpoint=True))


def _choice(*lengths: float) -> Draw:
    return lambda rng: int(lengths[rng.integers(len(lengths))])


def _lognormal(median: float, sigma: float, most: float) -> Draw:
    return lambda rng: _bounded(rng.lognormal(np.log(median), sigma), most)


def _exponential(mean: float, most: float) -> Draw:
    return lambda rng: _bounded(rng.exponential(mean), most)


def _bounded(length: float, most: float) -> int:
    return max(1, min(round(length), int(most)))


_DISTRIBUTIONS: dict[str, Callable[..., Draw]] = {
    "": _fixed,
    "uniform": _uniform,
    "choice": _choice,
    "lognormal": _lognormal,
    "exponential": _exponential,
}


def _mean(draw: Draw, draws: int = 2000) -> float:
    """Of many draws: bounds move it away from the textbook's value."""
    rng = np.random.default_rng(0)
    return sum(draw(rng) for _ in range(draws)) / draws
