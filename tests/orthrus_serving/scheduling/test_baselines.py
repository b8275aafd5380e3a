"""The paper's two baselines as policies."""

from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.fcfs import FirstComeFirstServed
from orthrus_serving.scheduling.homogeneous import Homogeneous
from orthrus_serving.scheduling.policies import POLICY_NAMES, make_policy
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica

mixed_requests = st.lists(
    st.tuples(st.sampled_from(Task), st.integers(1, 100)), min_size=1, max_size=40
)


@given(mixed_requests)
def test_first_come_first_served_ignores_tasks(requests: list[tuple[Task, int]]) -> None:
    replica = Replica(FirstComeFirstServed(), sequences=80)
    submitted = [replica.submit(task, tokens, output=0) for task, tokens in requests]
    while len(replica.finished) < len(submitted):
        replica.step()

    assert replica.finished == submitted


@given(mixed_requests)
def test_a_homogeneous_step_holds_one_task(requests: list[tuple[Task, int]]) -> None:
    replica = Replica(Homogeneous(), sequences=80)
    for task, tokens in requests:
        replica.submit(task, tokens, output=3)
    while len(replica.finished) < len(requests):
        taken = replica.step()
        decodes = taken.decodes if G in taken.plan.tasks else 0
        assert not (taken.tokens(E) and (taken.tokens(G) or decodes))


def test_homogeneous_steps_take_turns_while_both_tasks_have_work() -> None:
    replica = Replica(Homogeneous())
    replica.submit(G, 1, output=100)
    replica.submit(E, 10**6)

    held = [E in replica.step().plan.tasks for _ in range(6)]

    assert held == [True, False] * 3


def test_homogeneous_does_not_give_a_turn_to_a_task_that_cannot_run() -> None:
    replica = Replica(Homogeneous(), blocks=50)
    replica.submit(E, 60)
    generation = replica.submit(G, 5, output=3)
    for _ in range(4):
        replica.step()

    assert generation in replica.finished


def test_each_named_policy_exists() -> None:
    kinds = {type(make_policy(name, 16, 1)) for name in POLICY_NAMES}

    assert len(kinds) == len(POLICY_NAMES)
