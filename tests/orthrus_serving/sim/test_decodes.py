"""Decodes advance together; a list of single requests says what must come out."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.decodes import Decodes

BLOCK = 4


@dataclass
class One:
    prefill: Prefill
    context: int
    left: int


def blocks_of(tokens: int) -> int:
    return -(-tokens // BLOCK)


actions = st.lists(
    st.tuples(st.just("add"), st.integers(1, 20), st.integers(1, 12))
    | st.tuples(st.just("step"), st.integers(1, 9), st.just(0))
    | st.tuples(st.just("remove"), st.integers(0, 100), st.just(0)),
    max_size=40,
)


@given(actions)
def test_they_agree_with_requests_that_are_counted_one_by_one(
    actions: list[tuple[str, int, int]],
) -> None:
    decodes, single = Decodes(BLOCK), list[One]()
    for number, (act, first, second) in enumerate(actions):
        if act == "add":
            one = One(Prefill(str(number), Task.GENERATION, number), first, second)
            single.append(one)
            decodes.add(one.prefill, one.context, one.left)
        elif act == "remove" and single:
            one = single.pop(first % len(single))
            assert decodes.remove(one.prefill) == (one.context, one.left)
        elif act == "step" and single:
            steps = min(first, *(one.left for one in single)) if len(single) else 0
            for one in single:
                one.context += steps
                one.left -= steps
            done = [one.prefill for one in single if not one.left]
            assert decodes.advance(steps) == done
            single = [one for one in single if one.left]
        assert len(decodes) == len(single)
        assert decodes.context == sum(one.context for one in single)
        assert decodes.blocks == sum(blocks_of(one.context) for one in single)
        assert decodes.growth() == sum(one.context % BLOCK == 0 for one in single)
        assert dict(decodes) == {one.prefill: one.context for one in single}


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 40)), min_size=1, max_size=8),
    st.integers(0, 60),
)
def test_steps_alike_end_with_the_first_request_or_the_last_free_block(
    requests: list[tuple[int, int]], free: int
) -> None:
    decodes = Decodes(BLOCK)
    for number, (context, steps) in enumerate(requests):
        decodes.add(Prefill(str(number), Task.GENERATION, number), context, steps)
    contexts = [context for context, _ in requests]
    expected = 0
    while expected < min(steps for _, steps in requests):
        grown = sum(blocks_of(c + expected + 1) - blocks_of(c) for c in contexts)
        if grown > free:
            break
        expected += 1
    assert decodes.steps_alike(free) == expected
