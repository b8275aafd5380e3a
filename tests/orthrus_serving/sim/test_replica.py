"""What holds for a simulated replica whatever it is given."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.scheduling.policies import POLICY_NAMES
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.replica import Replica
from orthrus_serving.sim.request import SimulatedRequest
from tests.orthrus_serving.sim.making import COST, SETTINGS, Observed, embedding, generation

LONGEST = 200
requests = st.lists(
    st.builds(embedding, st.integers(1, LONGEST))
    | st.builds(generation, st.integers(1, LONGEST), st.integers(1, 40)),
    min_size=1,
    max_size=30,
)


def run(replica: Replica, requests: list[SimulatedRequest]) -> list[SimulatedRequest]:
    """Requests in the order in which they are done."""
    for request in requests:
        replica.submit(request)
    done: list[SimulatedRequest] = []
    for _ in range(20_000):
        if replica.idle:
            return done
        outputs = replica.step()
        done += [*outputs.generated, *outputs.embedded]
        assert replica.used_blocks <= replica.settings.kv.blocks
    raise AssertionError("requests do not end")


@given(requests, st.sampled_from(POLICY_NAMES))
def test_every_token_is_computed_once(requests: list[SimulatedRequest], policy: str) -> None:
    replica = Replica(replace(SETTINGS, policy=policy), COST)
    done = run(replica, requests)

    assert sorted(map(id, done)) == sorted(map(id, requests))
    assert replica.totals.chunk_tokens == sum(r.prompt_tokens for r in requests)
    assert replica.totals.decode_tokens == sum(max(0, r.output_tokens - 1) for r in requests)
    assert replica.totals.preemptions == 0
    assert replica.used_blocks == replica.backlog_tokens == 0


@given(requests, st.sampled_from(POLICY_NAMES))
def test_a_lack_of_blocks_costs_work_and_loses_no_request(
    requests: list[SimulatedRequest], policy: str
) -> None:
    tight = replace(SETTINGS, policy=policy, kv=KvSpace(LONGEST + 48))
    replica = Replica(tight, COST)
    done = run(replica, requests)

    assert sorted(map(id, done)) == sorted(map(id, requests))
    assert replica.totals.chunk_tokens >= sum(r.prompt_tokens for r in requests)
    assert replica.used_blocks == replica.backlog_tokens == 0


def test_decodes_that_outgrow_the_blocks_are_preempted_and_compute_again() -> None:
    replica = Replica(replace(SETTINGS, kv=KvSpace(20 * 16)), COST)
    run(replica, [generation(60, 60) for _ in range(4)])
    assert replica.totals.preemptions > 0
    assert replica.totals.chunk_tokens > 4 * 60


@given(requests)
def test_a_step_is_full_while_prompt_tokens_wait(requests: list[SimulatedRequest]) -> None:
    """Work conservation: with rows and blocks to spare, no token of the budget stays unused."""
    observed = Observed()
    roomy = replace(SETTINGS, sequences=100, chunk_tokens=64)
    replica = Replica(roomy, observed)
    for request in requests:
        replica.submit(request)
    while not replica.idle:
        replica.step()
        load = observed.loads[-1]
        if replica.backlog_tokens:
            assert load.chunk_tokens + load.decode_tokens == roomy.token_budget


def test_a_single_generation_takes_a_step_for_its_prompt_and_one_for_each_further_token() -> None:
    observed = Observed()
    run(Replica(SETTINGS, observed), [generation(100, 5)])
    assert [(x.chunk_tokens, x.decode_tokens) for x in observed.loads] == [(100, 0), *4 * [(0, 1)]]
    assert [load.kv_tokens for load in observed.loads] == [100, 101, 102, 103, 104]
    assert observed.loads[0].pairs == 100 * 101 / 2


def test_a_prompt_that_was_computed_elsewhere_costs_one_token_and_all_its_blocks() -> None:
    observed = Observed()
    replica = Replica(SETTINGS, observed)
    replica.submit(SimulatedRequest(generation(1, 1).task, 101, 3, computed=100))
    replica.step()
    assert (observed.loads[0].chunk_tokens, observed.loads[0].kv_tokens) == (1, 101)
    assert replica.used_blocks == 7


def test_a_request_that_can_never_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a request of 100100 tokens does not fit"):
        Replica(SETTINGS, COST).submit(generation(100_000, 100))


def test_an_inter_token_target_bounds_steps_with_decodes() -> None:
    target = 0.020
    observed = Observed()
    replica = Replica(replace(SETTINGS, max_inter_token_seconds=target), observed)
    replica.submit(generation(1, 400))
    for _ in range(100):
        replica.submit(embedding(200))
    run(replica, [])
    beside_decodes = [load for load in observed.loads[20:] if load.decode_tokens]
    seconds = [COST.seconds(load) for load in beside_decodes]
    assert max(seconds) <= target * 1.001
    assert max(load.chunk_tokens for load in beside_decodes) > 64


@pytest.mark.parametrize(
    ("change", "message"),
    [({"chunk_tokens": 0}, "the chunk is 0"), ({"sequences": 256}, "256 sequences")],
)
def test_settings_that_the_engine_refuses_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTINGS, **change)  # type: ignore[arg-type]


def test_a_policy_of_fixed_order_finishes_equal_embeddings_in_order_of_arrival() -> None:
    requests = [embedding(50) for _ in range(40)]
    assert run(Replica(replace(SETTINGS, policy="fcfs"), COST), requests) == requests
