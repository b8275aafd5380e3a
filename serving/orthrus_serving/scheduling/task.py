"""The two tasks that share a batch."""

from enum import Enum


class Task(Enum):
    """What a request asks for; the order decides ties in favour of embeddings."""

    EMBEDDING = "embedding"
    GENERATION = "generation"

    # Enum hashes the name, in Python, at every look into a dict; members are compared by identity.
    __hash__ = object.__hash__
