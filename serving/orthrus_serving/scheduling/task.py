"""The two tasks that share a batch."""

from enum import Enum


class Task(Enum):
    """What a request asks for; the order decides ties in favour of embeddings."""

    EMBEDDING = "embedding"
    GENERATION = "generation"
