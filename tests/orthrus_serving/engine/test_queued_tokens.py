import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from orthrus_serving.engine.http_request import HttpRequest
from orthrus_serving.engine.queued_tokens import (
    QueuedTokens,
    QueueFullError,
    RequestTooLargeError,
)

LIMIT = 100


class Admissions(RuleBasedStateMachine):
    """HTTP requests of several prompts come, have prompts computed, and end at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = QueuedTokens(LIMIT)
        self.waiting: list[tuple[HttpRequest, list[int]]] = []

    @rule(prompts=st.lists(st.integers(1, 2 * LIMIT), min_size=1, max_size=5))
    def arrive(self, prompts: list[int]) -> None:
        request = HttpRequest("id")
        free = LIMIT - self.expected
        try:
            request.hold(sum(prompts), self.queue.reserve(sum(prompts)))
        except RequestTooLargeError:
            assert sum(prompts) > LIMIT
        except QueueFullError:
            assert free < sum(prompts) <= LIMIT
        else:
            assert sum(prompts) <= free
            self.waiting.append((request, list(prompts)))

    @rule(data=st.data())
    def compute_one_prompt(self, data: st.DataObject) -> None:
        if unfinished := [item for item in self.waiting if item[1]]:
            request, prompts = data.draw(st.sampled_from(unfinished))
            request.prompt_computed(prompts.pop())

    @rule(data=st.data(), twice=st.booleans())
    def end(self, data: st.DataObject, twice: bool) -> None:
        if self.waiting:
            item = data.draw(st.sampled_from(self.waiting))
            self.waiting.remove(item)
            item[0].close()
            if twice:
                item[0].close()
                item[0].prompt_computed(7)

    @property
    def expected(self) -> int:
        return sum(sum(prompts) for _, prompts in self.waiting)

    @invariant()
    def counts_exactly_what_waits(self) -> None:
        assert self.queue.reserved == self.expected


TestAdmissions = Admissions.TestCase


@given(st.integers(1, LIMIT))
def test_a_queue_that_is_not_full_lets_a_request_be_looked_at(reserved: int) -> None:
    queue = QueuedTokens(LIMIT)
    queue.require_room()
    queue.reserve(reserved)
    if reserved < LIMIT:
        queue.require_room()
    else:
        with pytest.raises(QueueFullError, match=f"{LIMIT} of {LIMIT}"):
            queue.require_room()
