"""What holds in every step, whatever arrives, ends, aborts or is preempted."""

from collections.abc import Mapping

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from orthrus_serving.scheduling.ibs import IntraBatchScheduling
from orthrus_serving.scheduling.lane import Lane
from orthrus_serving.scheduling.policies import make_policy
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica, Taken

CHUNK = 16
BUDGET = 48
ROWS = 8
SLOTS = 3
BLOCKS = 200
LONGEST = 120

requests = st.tuples(
    st.sampled_from(Task),
    st.integers(1, 8) | st.integers(1, LONGEST),
    st.integers(1, 30),
    st.integers(0, 4),
)


class ObservedSharing(IntraBatchScheduling):
    """Keeps its own account of the opportunities that both tasks could have taken.

    `owed` is what embeddings should have had by the weights at the start of each step, less what
    they had, since one of the tasks last was without work.
    """

    def __init__(self, chunk_tokens: int, min_opportunities: int) -> None:
        super().__init__(chunk_tokens, min_opportunities)
        self.owed = 0.0
        self.largest = 0
        self._share_of_embeddings = 0.0

    def plan(self, step: Step) -> StepPlan:
        left = {task: step.backlog.tokens(task) for task in Task}
        self._share_of_embeddings = left[E] / max(1, sum(left.values()))
        plan = super().plan(step)
        for prefill, tokens in plan.grants.items():
            left[prefill.task] -= tokens
        if not all(left.values()):
            self.owed = 0.0
        return plan

    def _one_opportunity(
        self, lanes: Mapping[Task, Lane], weights: Mapping[Task, int], left: int
    ) -> int:
        before = lanes[E].granted
        tokens = super()._one_opportunity(lanes, weights, left)
        self.largest = max(self.largest, tokens)
        self.owed += tokens * self._share_of_embeddings - (lanes[E].granted - before)
        return tokens


class ReplicaMachine(RuleBasedStateMachine):
    """A replica under any sequence of events."""

    @initialize(name=st.sampled_from(["ibs", "fcfs", "homogeneous"]), floor=st.integers(0, 2))
    def start(self, name: str, floor: int) -> None:
        self.name, self.floor = name, floor
        self.sharing = ObservedSharing(CHUNK, floor)
        policy = self.sharing if name == "ibs" else make_policy(name, CHUNK, floor)
        self.replica = Replica(policy, BUDGET, ROWS, SLOTS, BLOCKS)

    @rule(burst=st.lists(requests, min_size=1, max_size=8))
    def submit(self, burst: list[tuple[Task, int, int, int]]) -> None:
        for task, tokens, output, adapter in burst:
            self.replica.submit(task, tokens, output, adapter)

    @precondition(lambda self: self.replica.lengths)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        live = [p for p in self.replica.lengths if p not in self.replica.finished]
        if live:
            self.replica.abort(data.draw(st.sampled_from(live)))

    @precondition(lambda self: self.replica.running)
    @rule(data=st.data())
    def preempt(self, data: st.DataObject) -> None:
        self.replica.preempt(data.draw(st.sampled_from(self.replica.running)))

    @rule(steps=st.integers(1, 5))
    def step(self, steps: int) -> None:
        for _ in range(steps):
            started = self._started_that_fit()
            unblocked = self._tasks_with_work() if self._all_fit() else set()
            embeddings_fill_it = bool(unblocked) and self.replica.backlog.tokens(E) >= BUDGET
            before = {p: p.remaining for p in self.replica.lengths}
            taken = self.replica.step()
            self._within_limits(taken)
            self._grants_are_needed(taken)
            self._decodes_ran(taken)
            self._one_after_the_other(taken, before)
            if self.name == "ibs":
                self._shares_follow_the_weights()
                assert not embeddings_fill_it or BUDGET - taken.total < CHUNK
            if self.name == "ibs" and self.floor:
                served = {p.task for p in taken.plan.grants}
                assert {p.task for p in started} <= served
                assert unblocked <= served, "a task with room for all it has got no tokens"

    def _started_that_fit(self) -> list[Prefill]:
        """Running prefills, if there are blocks for the rest of all of them."""
        replica = self.replica
        rest = sum(prefill.remaining for prefill in replica.partial)
        fits = replica.used_blocks + len(replica.decoding) + rest <= BLOCKS
        return list(replica.partial) if fits else []

    def _tasks_with_work(self) -> set[Task]:
        return {task for task in Task if self.replica.backlog.tokens(task)}

    def _all_fit(self) -> bool:
        """Whether rows, adapter slots and blocks are there for every live request at once."""
        replica = self.replica
        live = [p for p in replica.lengths if p not in replica.finished]
        adapters = {p.adapter for p in live} - {0}
        blocks = replica.used_blocks + 2 * len(replica.decoding)
        return (
            all(sum(p.task is task for p in live) < ROWS for task in Task)
            and len(live) <= ROWS
            and len(adapters) < SLOTS
            and blocks + sum(p.remaining for p in live) <= BLOCKS
        )

    def _one_after_the_other(self, taken: Taken, before: Mapping[Prefill, int]) -> None:
        """The last request of a task to be served gets a part, those before it all they need."""
        for task in Task:
            grants = {p: n for p, n in taken.plan.grants.items() if p.task is task}
            parts = [p for p, tokens in grants.items() if tokens < before[p]]
            assert parts in ([], list(grants)[-1:])

    def _shares_follow_the_weights(self) -> None:
        """By at most half an opportunity, under any limits, aborts and preemptions."""
        assert abs(self.sharing.owed) <= CHUNK / 2 + 1e-6
        assert self.sharing.largest <= CHUNK
        assert self.sharing.credit[E] == pytest.approx(self.sharing.owed, abs=1e-6)
        assert self.sharing.credit[G] == pytest.approx(-self.sharing.owed, abs=1e-6)

    def _within_limits(self, taken: Taken) -> None:
        running = self.replica.running
        assert taken.total <= BUDGET
        assert len(running) <= ROWS
        assert len({p.adapter for p in running} - {0}) <= SLOTS
        if self.name != "fcfs":
            for task in Task:
                assert sum(p.task is task for p in running) < ROWS
                assert len({p.adapter for p in running if p.task is task} - {0}) < SLOTS

    def _grants_are_needed(self, taken: Taken) -> None:
        assert all(tokens > 0 for tokens in taken.plan.grants.values())
        assert all(prefill.remaining >= 0 for prefill in taken.plan.grants)

    def _decodes_ran(self, taken: Taken) -> None:
        if G in taken.plan.tasks:
            assert taken.plan.chunk_budget == BUDGET - taken.decodes
        else:
            assert self.name == "homogeneous"
            assert taken.tokens(E) or not taken.decodes

    def teardown(self) -> None:
        """Whatever has happened, everything ends in a bounded number of steps."""
        if not hasattr(self, "replica"):
            return
        unfinished = len(self.replica.lengths) - len(self.replica.finished)
        for _ in range(40 * unfinished):
            if len(self.replica.finished) < len(self.replica.lengths):
                self.step(1)
        assert len(self.replica.finished) == len(self.replica.lengths)
        assert self.replica.backlog.tokens(E) == self.replica.backlog.tokens(G) == 0


# Shrinking such runs takes minutes; the first failing one says enough.
NO_SHRINKING = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
TestReplica = ReplicaMachine.TestCase
TestReplica.settings = settings(
    deadline=None, max_examples=40, stateful_step_count=30, phases=NO_SHRINKING
)


def test_no_budget_is_left_while_embeddings_are_backlogged() -> None:
    """The paper leaves less than C unused; an opportunity cut to what is left leaves none."""
    replica = Replica(make_policy("ibs", CHUNK, 1), token_budget=BUDGET, sequences=40)
    for tokens in (1, 15, 16, 17, 31, 33, 47, 49, 95) * 6:
        replica.submit(E, tokens)
        replica.submit(G, tokens, output=4)
    while replica.backlog.tokens(E) > BUDGET:
        assert replica.step().total == BUDGET
