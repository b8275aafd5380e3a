"""The HPA's rule on the backlog."""

from dataclasses import replace

import pytest

from orthrus_serving.sim.autoscaler import Autoscaler, AutoscalerSettings
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.pool import Pool
from tests.orthrus_serving.sim.making import embedding, pool_parts

SETTINGS = AutoscalerSettings(
    min_replicas=1,
    max_replicas=10,
    backlog_tokens_per_replica=100,
    load_seconds=60,
    metric_age_seconds=0,
)
FROZEN = LinearCost(10_000.0, 0.0, 0.0)
"""Steps that outlast the test: a backlog stays what it is."""


def pool_with_backlog(clock: Clock, tokens: int) -> Pool:
    pool = pool_parts(clock, cost=FROZEN)(1, lambda _request: None)
    pool.submit(embedding(1))
    clock.run(until=0.0)
    if tokens:
        pool.submit(embedding(tokens))
    assert pool.backlog_tokens == tokens
    return pool


def test_backlog_divided_by_the_target_is_the_size_and_new_replicas_serve_when_loaded() -> None:
    clock = Clock()
    pool = pool_with_backlog(clock, 350)
    autoscaler = Autoscaler(clock, pool, SETTINGS)
    clock.run(until=20.0)
    assert autoscaler.sizes == [(0.0, 1), (15.0, 4)]
    clock.run(until=74.9)
    assert len(pool.serving) == 1
    clock.run(until=75.0)
    assert len(pool.serving) == 4


def test_a_decision_is_as_old_as_its_metric() -> None:
    clock = Clock()
    pool = pool_with_backlog(clock, 350)
    autoscaler = Autoscaler(clock, pool, replace(SETTINGS, metric_age_seconds=10))
    clock.run(until=30.0)
    assert autoscaler.sizes[1] == (25.0, 4)


def test_growth_is_bounded_by_four_or_double_and_by_the_most() -> None:
    clock = Clock()
    pool = pool_with_backlog(clock, 100_000)
    autoscaler = Autoscaler(clock, pool, SETTINGS)
    clock.run(until=60.0)
    assert autoscaler.sizes == [(0.0, 1), (15.0, 5), (30.0, 10)]


def test_within_the_tolerance_nothing_happens() -> None:
    clock = Clock()
    autoscaler = Autoscaler(clock, pool_with_backlog(clock, 109), SETTINGS)
    clock.run(until=60.0)
    assert autoscaler.sizes == [(0.0, 1)]


def test_it_shrinks_only_after_five_minutes_without_need() -> None:
    clock = Clock()
    pool = pool_with_backlog(clock, 0)
    pool.grow(3, load_seconds=0.0)
    autoscaler = Autoscaler(clock, pool, SETTINGS)
    clock.run(until=299.0)
    assert autoscaler.sizes == [(0.0, 4)]
    clock.run(until=400.0)
    assert autoscaler.sizes == [(0.0, 4), (315.0, 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_replicas": 0}, "1 <= min <= max"),
        ({"min_replicas": 11}, "1 <= min <= max"),
        ({"backlog_tokens_per_replica": 0}, "above 0"),
    ],
)
def test_settings_that_kubernetes_refuses_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTINGS, **change)
