"""With an inter-token target, chunks are trimmed as far as it needs, and no further."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.inter_token import InterTokenTarget
from orthrus_serving.scheduling.policies import POLICY_NAMES, make_policy
from orthrus_serving.scheduling.step_time import StepTime
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica, Taken

CHUNK, BUDGET, ROWS, BLOCK = 512, 2048, 64, 16
DOUBLINGS = 8
"""Steps in which what is believed grows from one KV block to any budget here."""


@dataclass
class Machine:
    """Fixed cost of a step and cost of a token, in seconds, with noise."""

    fixed: float
    per_chunk: float
    per_decode: float
    noise: float = 0.0
    random = random.Random(0)  # noqa: S311

    def __call__(self, chunk_tokens: int, decodes: int) -> float:
        seconds = self.fixed + self.per_chunk * chunk_tokens + self.per_decode * decodes
        return seconds * max(0.2, self.random.gauss(1, self.noise))


def replica(
    machine: Machine, target: float, policy: str = "ibs", min_opportunities: int = 1
) -> Replica:
    step_time = StepTime(BUDGET, ROWS)
    return Replica(
        make_policy(policy, CHUNK, min_opportunities),
        BUDGET,
        ROWS,
        target=InterTokenTarget(target, BLOCK, step_time),
        duration=machine,
    )


def start_streams(replica: Replica, streams: int = 20) -> None:
    for _ in range(streams):
        replica.submit(G, 1, output=10**6)
    replica.step()


machines = st.builds(
    Machine,
    st.floats(0, 0.05),
    st.floats(1e-6, 1e-3),
    st.floats(0, 1e-3),
    st.sampled_from([0.0, 0.05, 0.3]),
)


@given(
    machine=machines,
    target=st.floats(0.005, 0.5),
    bursts=st.lists(
        st.tuples(st.sampled_from(Task), st.integers(1, 5_000), st.integers(0, 12)), max_size=30
    ),
    policy=st.sampled_from(["ibs", "fcfs"]),
    min_opportunities=st.integers(0, 2),
)
def test_a_step_is_predicted_to_meet_the_target_or_is_at_the_floor_and_gives_up_no_more(
    machine: Machine,
    target: float,
    bursts: list[tuple[Task, int, int]],
    policy: str,
    min_opportunities: int,
) -> None:
    busy = replica(machine, target, policy, min_opportunities)
    step_time = busy.target._step_time  # type: ignore[union-attr]
    start_streams(busy, 5)
    largest = 5  # the streams' own prompts
    for task, tokens, steps in bursts:
        busy.submit(task, tokens, output=10)
        for _ in range(steps):
            decodes = len(busy.decoding)
            floors = BLOCK * sum(busy.backlog.tokens(task) > 0 for task in Task)
            believed = 2 * largest
            allowed = step_time.chunk_tokens_within(target, decodes)
            within = step_time.predict(int(allowed), decodes) if allowed < BUDGET else 0.0
            chunks = chunks_of(taken := busy.step())

            largest = max(largest, chunks)
            assert chunks <= floors or (chunks <= allowed and within <= target * 1.001)
            assert chunks <= max(believed, floors)
            budget = min(BUDGET - decodes, max(int(min(allowed, believed)), floors))
            assert taken.plan.chunk_budget == budget


def chunks_of(taken: Taken) -> int:
    return sum(taken.plan.grants.values())


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
def test_the_target_is_met_and_used_up(noise: float) -> None:
    """The machine could do 630 chunk tokens beside these streams within the target."""
    busy = replica(Machine(0.010, 0.000_06, 0.000_1, noise), target=0.05)
    start_streams(busy)
    busy.submit(E, 10**7)
    chunks = [chunks_of(busy.step()) for _ in range(500)][100:]
    seconds = sorted(busy.duration(n, 20) for n in chunks)

    assert seconds[int(0.99 * len(seconds))] <= 1.2 * 0.05
    assert sum(chunks) / len(chunks) >= 630 * (0.95 - 2.2 * noise)


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_a_target_does_nothing_without_decodes(policy: str) -> None:
    busy = replica(Machine(1.0, 0.1, 0.0), target=0.001, policy=policy)
    busy.submit(E, 10**6)

    assert [busy.step().total for _ in range(5)] == [BUDGET] * 5


def test_a_loose_target_trims_nothing_once_steps_have_been_measured() -> None:
    busy = replica(Machine(0.010, 0.000_05, 0.000_1), target=10.0)
    start_streams(busy)
    busy.submit(E, 10**7)
    for _ in range(DOUBLINGS):
        busy.step()

    assert busy.step().total == BUDGET


def test_the_first_steps_grow_from_the_floor() -> None:
    busy = replica(Machine(0.010, 0.000_05, 0.000_1), target=10.0)
    start_streams(busy)
    busy.submit(E, 10**7)

    assert [chunks_of(busy.step()) for _ in range(4)] == [40, 80, 160, 320]


@given(
    backlog=st.integers(100_000, 10**8),
    backlogged=st.sampled_from(Task),
    min_opportunities=st.integers(1, 2),
    steps_before=st.integers(1, 30),
)
def test_the_head_of_either_task_progresses_in_every_step_under_a_target_nobody_can_meet(
    backlog: int, backlogged: Task, min_opportunities: int, steps_before: int
) -> None:
    busy = replica(Machine(1.0, 0.1, 0.0), target=0.001, min_opportunities=min_opportunities)
    start_streams(busy)
    busy.submit(backlogged, backlog)
    for _ in range(steps_before):
        busy.step()
    late = busy.submit(G if backlogged is E else E, 5 * BLOCK, output=0)

    for _ in range(5):
        taken = busy.step()
        assert taken.tokens(E) == taken.tokens(G) == BLOCK
        assert taken.decodes == 20
    assert late in busy.finished


def test_beyond_one_block_for_each_task_trimmed_chunks_follow_the_weights() -> None:
    busy = replica(Machine(0.010, 0.000_06, 0.000_1), target=0.05)
    start_streams(busy)
    busy.submit(E, 9 * 10**7)
    busy.submit(G, 10**7)
    for _ in range(50):
        busy.step()
    steps = [busy.step() for _ in range(100)]

    expected = sum(BLOCK + 0.1 * (chunks_of(taken) - 2 * BLOCK) for taken in steps)
    assert sum(taken.tokens(G) for taken in steps) == pytest.approx(expected, rel=0.1)


def test_without_a_floor_of_opportunities_prompts_still_progress() -> None:
    busy = replica(Machine(1.0, 0.1, 0.0), target=0.001, min_opportunities=0)
    start_streams(busy)
    busy.submit(E, 10 * BLOCK)

    for _ in range(10):
        assert busy.step().tokens(E) == BLOCK


def test_homogeneous_embedding_steps_are_trimmed_while_decodes_pause() -> None:
    busy = replica(Machine(0.010, 0.000_05, 0.000_1), target=0.05, policy="homogeneous")
    start_streams(busy)
    busy.submit(E, 10**7)
    for _ in range(100):
        taken = busy.step()

        assert busy.duration(chunks_of(taken), 0) <= 0.05
