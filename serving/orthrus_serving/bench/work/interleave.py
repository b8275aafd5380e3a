"""The order of the two tasks in a workload."""

from collections.abc import Iterator

import numpy as np

from orthrus_serving.scheduling.task import Task

BLOCK = 20
"""Requests that are shuffled together."""


def interleave(generation_share: float, rng: np.random.Generator) -> Iterator[Task]:
    """Tasks without end, of which a `generation_share` are generations.

    Each block holds its exact share, to one request, so that a short window sees the same mix as a
    long one; inside a block the order is random, so that no server meets a rhythm.
    """
    owed = 0.0
    while True:
        owed += generation_share * BLOCK
        generations = int(owed + 1e-9)
        owed -= generations
        block = [Task.GENERATION] * generations + [Task.EMBEDDING] * (BLOCK - generations)
        for index in rng.permutation(BLOCK):
            yield block[index]
