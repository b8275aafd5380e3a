"""What the replicas of an object do together."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.planner.deployment_load import DeploymentLoad, Look, deployment_load
from orthrus_operator.planner.replica_sample import ReplicaSample


def sample(
    embedding: float, prefill: float, decode: float, budget: float, **other: Any
) -> ReplicaSample:
    return ReplicaSample(
        scheduled_tokens={
            "embedding_chunk": embedding,
            "generation_prefill": prefill,
            "decode": decode,
        },
        token_budget=budget,
        backlog_tokens=other.pop("backlog", {"embedding": 0.0, "generation": 0.0}),
        **other,
    )


ZERO = sample(0, 0, 0, 0)


def test_nothing_is_made_up_when_no_replica_answers() -> None:
    assert deployment_load(()) == DeploymentLoad()


def test_the_mix_is_that_of_all_tokens_not_the_mean_of_the_replicas() -> None:
    """One scheduled 900 embedding tokens of 1,000, the other none of 100."""
    looks = [Look(ZERO, sample(900, 50, 50, 2000)), Look(ZERO, sample(0, 60, 40, 200))]
    load = deployment_load(looks)
    assert load.mix_ratio == pytest.approx(900 / 1100)
    assert load.batch_fill_ratio == pytest.approx(1100 / 2200)


def test_only_what_was_scheduled_between_the_looks_counts() -> None:
    load = deployment_load([Look(sample(5000, 0, 0, 9000), sample(5010, 20, 10, 9100))])
    assert load.mix_ratio == pytest.approx(10 / 40)
    assert load.batch_fill_ratio == pytest.approx(40 / 100)


def test_a_replica_that_restarted_counts_from_zero_again() -> None:
    load = deployment_load([Look(sample(5000, 100, 100, 9000), sample(30, 10, 0, 100))])
    assert load.mix_ratio == pytest.approx(30 / 40)
    assert load.batch_fill_ratio == pytest.approx(40 / 100)


def test_at_the_first_look_there_is_no_ratio_yet() -> None:
    load = deployment_load([Look(None, sample(5000, 100, 100, 9000, busy_ratio=0.5))])
    assert (load.mix_ratio, load.batch_fill_ratio) == (None, None)
    assert load.busy_ratio == 0.5


def test_idle_replicas_have_no_mix_and_fill_nothing() -> None:
    load = deployment_load([Look(ZERO, ZERO)])
    assert (load.mix_ratio, load.batch_fill_ratio) == (0, 0)


def test_backlogs_are_summed_and_shares_of_time_averaged() -> None:
    looks = [
        Look(None, sample(0, 0, 0, 0, backlog={"embedding": 10, "generation": 1}, busy_ratio=1.0)),
        Look(None, sample(0, 0, 0, 0, backlog={"embedding": 5, "generation": 0}, busy_ratio=0.5)),
    ]
    load = deployment_load(looks)
    assert load.backlog_tokens == {"embedding": 15, "generation": 1}
    assert load.busy_ratio == 0.75
    assert load.gpu_utilization_ratio is None
    assert load.answering == 2


def test_a_replica_whose_engine_is_silent_does_not_answer() -> None:
    """It shows counters, which stand still, and no gauges."""
    silent = ReplicaSample(scheduled_tokens={"decode": 5.0}, token_budget=9.0, busy_ratio=1.0)
    assert deployment_load([Look(silent, silent)]) == DeploymentLoad()


def test_all_gpus_count_alike() -> None:
    looks = [Look(None, sample(0, 0, 0, 0, gpu_utilization=share)) for share in ((0.2,), (0.6,))]
    assert deployment_load(looks).gpu_utilization_ratio == pytest.approx(0.4)


COUNTS = st.tuples(*[st.integers(0, 10**6)] * 3, st.integers(1, 10**7))


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=5))
def test_ratios_are_shares_whatever_the_counters_do(
    pairs: list[tuple[tuple[int, int, int, int], tuple[int, int, int, int]]],
) -> None:
    """Also across restarts, at any moment."""
    looks = [
        Look(sample(*before), sample(*now[:3], max(now[3], sum(now[:3])))) for before, now in pairs
    ]
    load = deployment_load(looks)
    assert load.mix_ratio is not None
    assert 0 <= load.mix_ratio <= 1
    assert load.batch_fill_ratio is not None
    assert load.batch_fill_ratio >= 0
    assert math.isfinite(load.batch_fill_ratio)
