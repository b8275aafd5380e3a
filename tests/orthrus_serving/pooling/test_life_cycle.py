"""Requests that start again, stop half-way, share slots or go wrong."""

import pytest
import torch
from torch import Tensor

from orthrus_serving.pooling import Chunk, IncrementalPooler, PoolingRequest

HIDDEN = torch.arange(24, dtype=torch.float32).reshape(3, 8) + 1.0
"""Hidden states of a prompt of three tokens."""
MEAN = PoolingRequest("mean", prompt_tokens=3, normalize=False)


def feed(
    pooler: IncrementalPooler, request_id: str, start: int, end: int, hidden: Tensor = HIDDEN
) -> dict[str, Tensor]:
    """Fold tokens [start, end) in one step; the vectors that ended with it."""
    ended = pooler.fold(hidden[start:end], [Chunk(request_id, 0, end - start, start)])
    return ended.wait() if ended else {}


def is_sentinel(vector: Tensor) -> bool:
    return vector.shape == (0,)


@pytest.mark.parametrize("method", ["mean", "weighted-mean", "last", "cls", "max"])
def test_a_request_that_begins_again_forgets_what_it_saw(
    pooler: IncrementalPooler, method: str
) -> None:
    pooler.add("r", PoolingRequest(method, 3, normalize=False))
    feed(pooler, "r", 0, 2, torch.full((3, 8), 1000.0))
    pooler.restart("r")
    assert pooler.slots_taken == 0
    feed(pooler, "r", 0, 2)
    interrupted = feed(pooler, "r", 2, 3)["r"]
    pooler.add("whole", PoolingRequest(method, 3, normalize=False))
    torch.testing.assert_close(interrupted, feed(pooler, "whole", 0, 3)["whole"])


def test_token_0_begins_again_even_without_notice(pooler: IncrementalPooler) -> None:
    pooler.add("r", MEAN)
    feed(pooler, "r", 0, 2, torch.full((3, 8), 1000.0))
    feed(pooler, "r", 0, 1)
    assert torch.equal(feed(pooler, "r", 1, 3)["r"], HIDDEN.mean(0))


def test_adding_a_known_request_begins_it_anew(pooler: IncrementalPooler) -> None:
    pooler.add("r", MEAN)
    feed(pooler, "r", 0, 2)
    pooler.add("r", PoolingRequest("last", 3, normalize=False))
    assert pooler.slots_taken == 0
    assert torch.equal(feed(pooler, "r", 0, 3)["r"], HIDDEN[-1])


def test_a_request_can_be_pooled_again_after_it_ended(pooler: IncrementalPooler) -> None:
    # As when vLLM drops a step's output and computes the request once more.
    pooler.add("r", MEAN)
    first = feed(pooler, "r", 0, 3)["r"]
    assert torch.equal(feed(pooler, "r", 0, 3)["r"], first)


def test_slots_return_when_requests_end_or_leave(pooler: IncrementalPooler) -> None:
    for round_ in range(10):
        ids = [f"{round_}-{i}" for i in range(4)]
        for request_id in ids:
            pooler.add(request_id, MEAN)
            feed(pooler, request_id, 0, 1)
        assert pooler.slots_taken == 4
        assert feed(pooler, ids[0], 1, 3)
        pooler.restart(ids[1])
        pooler.remove(ids[2])
        assert pooler.slots_taken == 1
        for request_id in ids:
            pooler.remove(request_id)
        assert pooler.slots_taken == 0
        assert not any(request_id in pooler for request_id in ids)


def test_a_reused_slot_carries_nothing_over(pooler: IncrementalPooler) -> None:
    for i in range(20):
        pooler.add(str(i), MEAN)
        feed(pooler, str(i), 0, 2, HIDDEN * (i + 1))
        assert torch.equal(
            feed(pooler, str(i), 2, 3, HIDDEN * (i + 1))[str(i)], HIDDEN.mean(0) * (i + 1)
        )
        pooler.remove(str(i))


def test_a_vector_outlives_the_slot_it_came_from(pooler: IncrementalPooler) -> None:
    pooler.add("a", PoolingRequest("last", 3, normalize=False))
    vector = feed(pooler, "a", 0, 3)["a"]
    for i in range(4):
        pooler.add(str(i), MEAN)
        feed(pooler, str(i), 0, 2, HIDDEN * 7)
    assert torch.equal(vector, HIDDEN[-1])


@pytest.mark.parametrize("method", ["mean", "weighted-mean", "cls"])
def test_a_skipped_beginning_ends_in_a_vector_of_size_0(
    pooler: IncrementalPooler, method: str
) -> None:
    pooler.add("r", PoolingRequest(method, 3, normalize=True))
    assert is_sentinel(feed(pooler, "r", 1, 3)["r"])


def test_the_last_token_needs_no_beginning(pooler: IncrementalPooler) -> None:
    pooler.add("r", PoolingRequest("last", 3, normalize=False))
    assert torch.equal(feed(pooler, "r", 2, 3)["r"], HIDDEN[-1])


def test_a_lost_chunk_ends_in_a_vector_of_size_0(pooler: IncrementalPooler) -> None:
    pooler.add("r", MEAN)
    feed(pooler, "r", 0, 1)
    assert is_sentinel(feed(pooler, "r", 2, 3)["r"])


def test_a_chunk_that_comes_twice_counts_once(pooler: IncrementalPooler) -> None:
    pooler.add("r", MEAN)
    feed(pooler, "r", 0, 2)
    feed(pooler, "r", 1, 2)
    torch.testing.assert_close(feed(pooler, "r", 2, 3)["r"], HIDDEN.mean(0))


def test_a_preempted_request_that_resumes_in_the_middle_ends_in_a_vector_of_size_0(
    pooler: IncrementalPooler,
) -> None:
    pooler.add("r", MEAN)
    feed(pooler, "r", 0, 2)
    pooler.restart("r")
    assert is_sentinel(feed(pooler, "r", 2, 3)["r"])


def test_an_unknown_head_ends_in_a_vector_of_size_0(pooler: IncrementalPooler) -> None:
    pooler.add("r", PoolingRequest("median", 3, normalize=True))
    assert is_sentinel(feed(pooler, "r", 0, 3)["r"])


def test_without_a_free_slot_a_request_ends_in_a_vector_of_size_0(
    pooler: IncrementalPooler,
) -> None:
    for i in range(5):
        pooler.add(str(i), MEAN)
        feed(pooler, str(i), 0, 1)
    assert is_sentinel(feed(pooler, "4", 1, 3)["4"])
    assert torch.equal(feed(pooler, "0", 1, 3)["0"], HIDDEN.mean(0))


def test_one_request_gone_wrong_leaves_the_others_of_its_step_alone(
    pooler: IncrementalPooler,
) -> None:
    pooler.add("good", PoolingRequest("mean", 3, normalize=True))
    pooler.add("bad", MEAN)
    ended = pooler.fold(HIDDEN.repeat(2, 1), [Chunk("bad", 0, 2, 1), Chunk("good", 3, 3, 0)])
    assert ended is not None
    vectors = ended.wait()
    assert is_sentinel(vectors["bad"])
    torch.testing.assert_close(vectors["good"], HIDDEN.mean(0) / HIDDEN.mean(0).norm())


@pytest.mark.parametrize("method", ["broken", "wrong-shape", "missing", "nowhere", "sparse"])
def test_a_function_that_gives_what_cannot_be_used_harms_no_other_request(
    pooler: IncrementalPooler, method: str
) -> None:
    pooler.add("good", MEAN)
    pooler.add("bad", PoolingRequest(method, 3, normalize=False))
    ended = pooler.fold(HIDDEN.repeat(2, 1), [Chunk("bad", 0, 3, 0), Chunk("good", 3, 3, 0)])
    assert ended is not None
    vectors = ended.wait()
    assert is_sentinel(vectors["bad"])
    assert method in ended.failures["bad"]
    assert torch.equal(vectors["good"], HIDDEN.mean(0))


def test_a_function_may_give_another_type_of_number(pooler: IncrementalPooler) -> None:
    pooler.add("r", PoolingRequest("half", 3, normalize=False))
    vector = feed(pooler, "r", 0, 3)["r"]
    assert vector.dtype == torch.float32
    assert torch.equal(vector, HIDDEN.mean(0).half().float())


def test_tokens_behind_the_prompt_and_unknown_requests_are_passed_over(
    pooler: IncrementalPooler,
) -> None:
    pooler.add("r", MEAN)
    assert feed(pooler, "r", 0, 3)
    assert pooler.fold(HIDDEN[:1], [Chunk("r", 0, 1, 3), Chunk("stranger", 0, 1, 0)]) is None
    pooler.restart("stranger")
    pooler.remove("stranger")


def test_a_vector_is_scaled_to_length_1_only_on_request(pooler: IncrementalPooler) -> None:
    pooler.add("scaled", PoolingRequest("last", 1, normalize=True))
    pooler.add("as-is", PoolingRequest("last", 1, normalize=False))
    chunks = [Chunk("as-is", 0, 1, 0), Chunk("scaled", 1, 1, 0)]
    ended = pooler.fold(HIDDEN, chunks)
    assert ended is not None
    vectors = ended.wait()
    torch.testing.assert_close(vectors["scaled"], HIDDEN[1] / HIDDEN[1].norm())
    assert torch.equal(vectors["as-is"], HIDDEN[0])


def test_a_head_that_keeps_all_hidden_states_says_how_much_memory_that_is(
    pooler: IncrementalPooler,
) -> None:
    assert pooler.reserve("max", tokens=100).shape == (100, 8)
    assert pooler.reserve("mean", tokens=100).shape == (8,)
