"""Prompts of known length, as token ids."""

import random

VOCABULARY = range(1000, 40000)
"""Ordinary tokens of the sample model, no special ones."""


def prompt(length: int, seed: int = 0) -> list[int]:
    """`length` random tokens; another seed shares no beginning with it."""
    return random.Random(f"{length} {seed}").choices(VOCABULARY, k=length)  # noqa: S311
