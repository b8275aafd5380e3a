"""The backlog's totals and order, against a plain list."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from orthrus_serving.scheduling.arrival_queue import ArrivalQueue
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task


class BacklogMachine(RuleBasedStateMachine):
    """Requests arrive, are admitted, scheduled, preempted and aborted in any order."""

    @initialize()
    def start(self) -> None:
        self.backlog = Backlog()
        self.known: list[Prefill] = []

    @rule(task=st.sampled_from(Task), tokens=st.integers(1, 50))
    def arrive(self, task: Task, tokens: int) -> None:
        prefill = Prefill(f"r{len(self.known)}", task, arrival=len(self.known))
        self.known.append(prefill)
        self.backlog.enqueue(prefill, tokens)

    @precondition(lambda self: any(p.waiting for p in self.known))
    @rule(data=st.data())
    def admit(self, data: st.DataObject) -> None:
        self.backlog.admit(data.draw(st.sampled_from([p for p in self.known if p.waiting])))

    @precondition(lambda self: any(not p.waiting for p in self.known))
    @rule(data=st.data(), tokens=st.integers(0, 50))
    def schedule(self, data: st.DataObject, tokens: int) -> None:
        running = data.draw(st.sampled_from([p for p in self.known if not p.waiting]))
        self.backlog.set_remaining(running, max(0, running.remaining - tokens))

    @precondition(lambda self: any(not p.waiting for p in self.known))
    @rule(data=st.data(), tokens=st.integers(1, 50))
    def preempt(self, data: st.DataObject, tokens: int) -> None:
        running = data.draw(st.sampled_from([p for p in self.known if not p.waiting]))
        self.backlog.enqueue(running, tokens)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        self.backlog.drop(data.draw(st.sampled_from(self.known)))

    @invariant()
    def totals_are_the_sums(self) -> None:
        for task in Task:
            remaining = [p.remaining for p in self.known if p.task is task]
            assert self.backlog.tokens(task) == sum(remaining)
            assert self.backlog.requests(task) == sum(tokens > 0 for tokens in remaining)

    @invariant()
    def those_who_wait_are_in_order_of_arrival(self) -> None:
        for task in Task:
            waiting = [p for p in self.known if p.task is task and p.waiting]
            assert list(self.backlog.waiting(task)) == waiting


TestBacklog = BacklogMachine.TestCase
TestBacklog.settings = settings(deadline=None, max_examples=40, stateful_step_count=30)


def test_removing_a_request_that_does_not_wait_is_an_error() -> None:
    queue = ArrivalQueue()
    queue.add(Prefill("a", Task.EMBEDDING, arrival=0))

    with pytest.raises(ValueError, match="request b is not waiting"):
        queue.remove(Prefill("b", Task.EMBEDDING, arrival=1))
