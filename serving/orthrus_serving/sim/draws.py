"""Random numbers of a simulation, apart for each use."""

from random import Random


def draws(seed: int, use: str) -> Random:
    """A generator of its own for each use, so that a router that draws, or draws more often,
    leaves the work as it is: systems compared under one seed see the same requests.
    """
    return Random(f"{use} {seed}")  # noqa: S311
