"""Which rows of a V1 step belong to embedding requests."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthrus_serving.pooling import Chunk


@dataclass(frozen=True)
class EmbeddingRows:
    """The embedding requests of one step."""

    indices: tuple[int, ...] = ()
    """Their rows in the input batch."""
    chunks: tuple[Chunk, ...] = ()
    """Their tokens in the step's hidden states."""
    fill_the_step: bool = False
    """No generation request shares the step."""


NO_EMBEDDING_ROWS = EmbeddingRows()


def find_embedding_rows(
    request_ids: Sequence[str],
    embedding_ids: Container[str],
    first_rows: NDArray[np.int32],
    scheduled_tokens: NDArray[np.int32],
    computed_tokens: NDArray[np.int32],
) -> EmbeddingRows:
    """Pick the embedding requests out of an input batch.

    `request_ids` is in batch order, as are `first_rows` (`query_start_loc`: where each
    request's tokens begin in the hidden states), `scheduled_tokens` (tokens of this step) and
    `computed_tokens` (tokens of the steps before).
    """
    indices = tuple(i for i, r in enumerate(request_ids) if r in embedding_ids)
    if not indices:
        return NO_EMBEDDING_ROWS
    chunks = tuple(
        Chunk(request_ids[i], int(first_rows[i]), int(scheduled_tokens[i]), int(computed_tokens[i]))
        for i in indices
    )
    return EmbeddingRows(indices, chunks, len(indices) == len(request_ids))
