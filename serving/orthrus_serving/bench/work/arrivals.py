"""When the requests of an open loop are sent, whatever the server does."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

_FORMS = "poisson, constant, gamma:CV or burst:REQUESTS"

Gaps = Callable[[np.random.Generator], float]


def parse_arrivals(text: str, rate: float) -> Callable[[np.random.Generator], Iterator[float]]:
    """Arrival times in seconds, ascending and without end, at `rate` requests a second on average.

    `gamma:CV` has gaps with that coefficient of variation: 1 is Poisson, above it is burstier.
    `burst:REQUESTS` has that many at one instant, such instants being Poisson.

    Raises:
        ValueError: no such form.
    """
    name, _, number = text.partition(":")
    try:
        value = float(number or 1)
        if rate <= 0 or value <= 0 or (name == "burst" and not value.is_integer()):
            raise ValueError
        together = int(value) if name == "burst" else 1
        gap = _GAPS[name](together / rate, value)
    except (KeyError, ValueError):
        raise ValueError(
            f"arrivals {text!r} at {rate:g} a second: write {_FORMS}, above zero"
        ) from None
    return lambda rng: _times(gap, together, rng)


def _times(gap: Gaps, together: int, rng: np.random.Generator) -> Iterator[float]:
    now = 0.0
    while True:
        now += gap(rng)
        yield from itertools.repeat(now, together)


def _exponential(mean: float, _: float) -> Gaps:
    return lambda rng: rng.exponential(mean)


def _constant(mean: float, _: float) -> Gaps:
    return lambda _: mean


def _gamma(mean: float, cv: float) -> Gaps:
    shape = 1 / cv**2
    return lambda rng: rng.gamma(shape, mean / shape)


_GAPS: dict[str, Callable[[float, float], Gaps]] = {
    "poisson": _exponential,
    "constant": _constant,
    "gamma": _gamma,
    "burst": _exponential,
}
