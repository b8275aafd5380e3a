"""Passages and queries of the real collection."""

import random
from dataclasses import dataclass

from orthrus_serving.bench.retgen.query import Query
from orthrus_serving.bench.retgen.weaknesses import read_weaknesses

_PASSAGE_WORDS = 120
"""Most passages are shorter; a few would fill a small model's context alone."""


@dataclass(frozen=True)
class Collection:
    passages: list[str]
    queries: list[Query]
    """Each a real vulnerability, whose kind is described by one passage."""


def read_collection(queries: int, seed: int, passages: int | None = None) -> Collection:
    """The first `passages` or all, and so many queries about them, drawn.

    Raises:
        ValueError: there are not so many, or the collection is missing.
    """
    weaknesses = read_weaknesses()[:passages]
    texts = [" ".join(w.passage.split()[:_PASSAGE_WORDS]) for w in weaknesses]
    found = [
        Query(weakness.observed[0], number)
        for number, weakness in enumerate(weaknesses)
        if weakness.observed
    ]
    if queries > len(found):
        raise ValueError(f"{queries} queries: the collection has {len(found)}")
    return Collection(texts, random.Random(seed).sample(found, queries))  # noqa: S311
