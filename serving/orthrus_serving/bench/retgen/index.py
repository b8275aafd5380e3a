"""Passages by the likeness of their vectors."""

from collections.abc import Sequence

import numpy as np
from usearch.index import Index


class PassageIndex:
    """Finds the passages whose vectors point most nearly the same way; held in memory."""

    def __init__(self, vectors: Sequence[Sequence[float]]) -> None:
        matrix = np.asarray(vectors, np.float32)
        self._index = Index(ndim=matrix.shape[1], metric="cos", dtype="f32")
        self._index.add(np.arange(len(matrix)), matrix)

    def nearest(self, vector: Sequence[float], count: int) -> tuple[int, ...]:
        """Numbers of the nearest passages, nearest first."""
        matches = self._index.search(np.asarray(vector, np.float32), count, exact=True)
        return tuple(int(key) for key in matches.keys)
