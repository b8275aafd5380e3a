"""No task waits for the other's queue to drain, and requests of a task finish in order."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.ibs import IntraBatchScheduling
from orthrus_serving.scheduling.limits import Limits
from orthrus_serving.scheduling.policies import POLICY_NAMES, make_policy
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica

CHUNK = 16
BUDGET = 64


@given(
    backlog=st.integers(10_000, 10**8),  # a tenth of the blocks
    backlogged=st.sampled_from(Task),
    steps_before=st.integers(0, 20),
)
def test_a_one_token_prompt_behind_a_huge_backlog_runs_in_the_next_step(
    backlog: int, backlogged: Task, steps_before: int
) -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 1), token_budget=BUDGET)
    replica.submit(backlogged, backlog)
    for _ in range(steps_before):
        replica.step()

    prompt = replica.submit(G if backlogged is E else E, 1)

    assert prompt in replica.step().plan.grants


def test_without_a_floor_it_waits_for_most_of_the_backlog() -> None:
    """Why there is a floor: the paper's form picks the small queue after w_e / 2w_g others."""
    replica = Replica(IntraBatchScheduling(CHUNK, 0), token_budget=BUDGET)
    replica.submit(E, 100 * BUDGET)
    prompt = replica.submit(G, 1)

    steps = 0
    while prompt not in replica.step().plan.grants:
        steps += 1

    assert steps > 50


@given(
    requests=st.lists(
        st.tuples(st.sampled_from(Task), st.integers(1, 5 * CHUNK)), min_size=1, max_size=60
    ),
    policy=st.sampled_from([0, 1, 2]),
)
def test_requests_of_a_task_end_their_prefill_in_order_of_arrival(
    requests: list[tuple[Task, int]], policy: int
) -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, policy), token_budget=BUDGET, sequences=80)
    submitted = [replica.submit(task, tokens, output=0) for task, tokens in requests]
    for _ in range(1 + sum(tokens for _, tokens in requests)):
        replica.step()

    for task in Task:
        done = [prefill for prefill in replica.finished if prefill.task is task]
        assert done == [prefill for prefill in submitted if prefill.task is task]


class CountingBacklog(Backlog):
    """Counts the waiting requests that are looked at."""

    looked_at = 0

    def waiting(self, task: Task) -> Iterator[Prefill]:
        for prefill in super().waiting(task):
            self.looked_at += 1
            yield prefill


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_the_work_of_a_step_does_not_grow_with_the_queues(policy: str) -> None:
    looked_at = []
    for waiting in (1_000, 100_000):
        backlog = CountingBacklog()
        replica = Replica(make_policy(policy, CHUNK, 1), BUDGET, backlog=backlog)
        for _ in range(waiting):
            replica.submit(E, 10)
            replica.submit(G, 10, output=0)
        replica.step()
        looked_at.append(backlog.looked_at)

    assert looked_at[0] == looked_at[1]


def test_the_head_takes_several_opportunities_in_a_step() -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 1), token_budget=BUDGET)
    first, *_ = [replica.submit(E, BUDGET) for _ in range(8)]

    assert replica.step().plan.grants == {first: BUDGET}


def test_decodes_are_reserved_before_any_chunk() -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 1), token_budget=BUDGET, sequences=20)
    for _ in range(10):
        replica.submit(G, 4, output=50)
    replica.step()
    replica.submit(E, 10**6)
    replica.submit(G, 10**6)

    taken = replica.step()

    assert taken.decodes == 10
    assert sum(taken.plan.grants.values()) == BUDGET - 10


def test_of_two_started_prefills_the_older_one_goes_on() -> None:
    """Two of a task are started when one had to wait for blocks."""
    older, younger = (Prefill(name, E, arrival=i, remaining=50) for i, name in enumerate("ab"))
    blocks = FreeBlocks(100, needed=lambda prefill, _: prefill.remaining)
    admission = Admission(Limits(8), {(E, 0): 2}, blocks)
    step = Step.begin(32, 0, [younger, older], Backlog(), admission)
    grants = dict[Prefill, int]()

    step.lane(E, grants).fill(32)

    assert grants == {older: 32}
