"""Which rows of a batch go to the pooler."""

import numpy as np

from orthrus_serving.engine.embedding_rows import EmbeddingRows, find_embedding_rows
from orthrus_serving.pooling import Chunk


def rows(request_ids: list[str], embeddings: set[str]) -> EmbeddingRows:
    scheduled = np.array([2, 5, 1][: len(request_ids)], dtype=np.int32)
    first = np.concatenate([[0], np.cumsum(scheduled)]).astype(np.int32)
    computed = np.array([0, 16, 7], dtype=np.int32)
    return find_embedding_rows(request_ids, embeddings, first, scheduled, computed)


def test_embedding_rows_are_found_by_where_their_tokens_lie() -> None:
    found = rows(["g", "e", "f"], {"e", "f", "not in this step"})
    assert found.indices == (1, 2)
    assert found.chunks == (
        Chunk("e", row=2, tokens=5, start=16),
        Chunk("f", row=7, tokens=1, start=7),
    )
    assert not found.fill_the_step


def test_a_step_of_embeddings_only_is_told_apart() -> None:
    assert rows(["e", "f"], {"e", "f"}).fill_the_step


def test_a_step_without_embeddings_has_no_rows() -> None:
    assert rows(["g", "h", "i"], {"e"}) == EmbeddingRows()
