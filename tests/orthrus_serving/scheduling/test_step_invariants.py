"""What holds in every step, whatever arrives, ends, aborts or is preempted."""

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from orthrus_serving.scheduling.policies import make_policy
from orthrus_serving.scheduling.prefill import Prefill
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


class ReplicaMachine(RuleBasedStateMachine):
    """A replica under any sequence of events."""

    @initialize(name=st.sampled_from(["ibs", "fcfs", "homogeneous"]), floor=st.integers(0, 2))
    def start(self, name: str, floor: int) -> None:
        self.name, self.floor = name, floor
        self.replica = Replica(make_policy(name, CHUNK, floor), BUDGET, ROWS, SLOTS, BLOCKS)

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
            taken = self.replica.step()
            self._within_limits(taken)
            self._grants_are_needed(taken)
            self._decodes_ran(taken)
            if self.name == "ibs" and self.floor:
                assert {p.task for p in started} <= {p.task for p in taken.plan.grants}

    def _started_that_fit(self) -> list[Prefill]:
        """Running prefills, if there are blocks for the rest of all of them."""
        replica = self.replica
        rest = sum(prefill.remaining for prefill in replica.partial)
        fits = replica.used_blocks + len(replica.decoding) + rest <= BLOCKS
        return list(replica.partial) if fits else []

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
