"""The paper's Table 7: chunked embeddings equal single-pass ones at every chunk size."""

import pytest

from e2e.exactness import CHUNK_SIZES, HEADS, measure


@pytest.mark.engine
@pytest.mark.long
async def test_every_head_equals_one_pass_at_every_chunk_size() -> None:
    cells = await measure(samples=8)

    assert {(cell.head, cell.chunk_tokens) for cell in cells} == {
        (head, chunk) for head in HEADS for chunk in CHUNK_SIZES
    }
    assert not [cell for cell in cells if not cell.is_equal]
