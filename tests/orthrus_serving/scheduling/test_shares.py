"""Beyond the floor, tokens go to the tasks in proportion to the work outstanding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.ibs import IntraBatchScheduling
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica

CHUNK = 16
BUDGET = 64


def backlogged(policy: IntraBatchScheduling, embedding: int, generation: int) -> Replica:
    replica = Replica(policy, token_budget=BUDGET)
    replica.submit(E, embedding)
    replica.submit(G, generation)
    return replica


def tokens_at_fixed_weights(replica: Replica, steps: int) -> dict[Task, int]:
    """Tokens by task when each step finds the queues as long as the first did."""
    heads = {p: p.remaining for task in Task for p in replica.backlog.waiting(task)}
    tokens = dict.fromkeys(Task, 0)
    for _ in range(steps):
        taken = replica.step()
        for task in Task:
            tokens[task] += taken.tokens(task)
        for prefill, weight in heads.items():
            replica.backlog.set_remaining(prefill, weight)
    return tokens


weights = st.integers(min_value=BUDGET + 1, max_value=100_000)


@given(embedding=weights, generation=weights, steps=st.integers(1, 60))
def test_without_a_floor_the_shares_are_the_weights_to_within_one_opportunity(
    embedding: int, generation: int, steps: int
) -> None:
    replica = backlogged(IntraBatchScheduling(CHUNK, 0), embedding, generation)

    tokens = tokens_at_fixed_weights(replica, steps)

    assert sum(tokens.values()) == steps * BUDGET
    assert abs(tokens[E] - steps * BUDGET * embedding / (embedding + generation)) <= CHUNK


@given(embedding=weights, generation=weights, steps=st.integers(1, 60))
def test_the_floor_is_not_charged(embedding: int, generation: int, steps: int) -> None:
    replica = backlogged(IntraBatchScheduling(CHUNK, 1), embedding, generation)

    tokens = tokens_at_fixed_weights(replica, steps)

    beyond_floor = steps * (BUDGET - 2 * CHUNK)
    ideal = steps * CHUNK + beyond_floor * embedding / (embedding + generation)
    assert abs(tokens[E] - ideal) <= CHUNK


@given(prompts=st.lists(st.integers(1, 3 * CHUNK), min_size=40, max_size=120))
def test_shares_are_counted_in_tokens_not_in_opportunities(prompts: list[int]) -> None:
    """Opportunities differ in size here. In proportion, both queues drain at the same rate."""
    replica = Replica(IntraBatchScheduling(CHUNK, 0), token_budget=BUDGET, sequences=10**6)
    for tokens in prompts:
        replica.submit(G, tokens, output=0)
        replica.submit(E, CHUNK)
    total = {task: replica.backlog.tokens(task) for task in Task}
    while all(replica.backlog.tokens(task) > BUDGET for task in Task):
        replica.step()
        left = {task: replica.backlog.tokens(task) / total[task] for task in Task}
        assert abs(left[E] - left[G]) * min(total.values()) <= 2 * CHUNK


def test_credit_survives_from_step_to_step() -> None:
    """A share below one opportunity a step still gets its opportunity in time."""
    replica = backlogged(IntraBatchScheduling(CHUNK, 0), embedding=97_000, generation=3_000)

    tokens = tokens_at_fixed_weights(replica, steps=100)

    assert tokens[G] == pytest.approx(0.03 * 100 * BUDGET, abs=CHUNK)


def test_an_absent_task_banks_nothing() -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 0), token_budget=BUDGET)
    replica.submit(E, 100_000)
    for _ in range(50):
        replica.step()

    replica.submit(G, replica.backlog.tokens(E))
    taken = replica.step()

    assert taken.tokens(E) == taken.tokens(G) == BUDGET // 2


def test_a_task_that_ran_out_of_work_owes_nothing() -> None:
    policy = IntraBatchScheduling(CHUNK, 0)
    replica = backlogged(policy, embedding=1_000, generation=CHUNK)
    while replica.backlog.tokens(G):
        replica.step()

    assert policy.credit == {E: 0.0, G: 0.0}


@pytest.mark.parametrize("task", Task)
def test_a_task_alone_takes_the_whole_budget(task: Task) -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 1), token_budget=BUDGET)
    replica.submit(task, 1_000)

    assert replica.step().total == BUDGET


def test_the_floor_is_an_opportunity_or_half_of_what_decodes_leave() -> None:
    replica = Replica(IntraBatchScheduling(CHUNK, 1), token_budget=24, sequences=8)
    for _ in range(4):
        replica.submit(G, 1, output=100)
    replica.step()
    replica.submit(E, 10**6)
    replica.submit(G, 10**6)

    taken = replica.step()

    assert taken.decodes == 4
    assert (taken.tokens(E), taken.tokens(G)) == (10, 10)
