"""Whom to ask first, when there may not be time for all."""

import random
from collections.abc import Collection, Iterable


def asking_order(keys: Iterable[str], answered: Collection[str]) -> list[str]:
    """Those that `answered` last time, then the others by chance.

    One that does not answer costs its whole timeout. Were the order always the same, a few hundred
    of them would keep those behind them from ever being asked.
    """
    ordered = sorted(keys, key=lambda _: random.random())  # noqa: S311
    return sorted(ordered, key=lambda key: key not in answered)
