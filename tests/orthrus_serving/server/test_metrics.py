import math
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from orthrus_serving.scheduling.snapshot import ByTask, Snapshot, StepCounts, UnitTokens
from orthrus_serving.server.collector import SnapshotCollector
from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS
from orthrus_serving.server.metric_table import METRICS
from orthrus_serving.server.metrics_page import render
from tests.orthrus_serving.server.outer_app import OuterApp

Samples = dict[tuple[str, str], float]


@pytest.fixture
def registry(outer: OuterApp) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(outer.monitor))
    return registry


def test_every_metric_is_there_at_zero_before_the_first_request(
    registry: CollectorRegistry,
) -> None:
    samples = _scrape(registry)
    assert {name for name, _ in samples} == {metric.name for metric in METRICS}
    assert all(value == 0 and not math.isnan(value) for value in samples.values())


def test_values_come_from_the_last_snapshot(outer: OuterApp, registry: CollectorRegistry) -> None:
    outer.monitor.snapshot = Snapshot(
        scheduled_tokens=UnitTokens(embedding_chunk=3, generation_prefill=4, decode=5),
        token_budget=64,
        steps=StepCounts(mixed=1, embedding=2, generation=6),
        backlog_tokens=ByTask(embedding=700, generation=80),
        backlog_requests=ByTask(embedding=7, generation=8),
        kv_cache_usage=0.5,
    )
    assert _scrape(registry) == {
        ("orthrus_scheduled_tokens_total", "embedding_chunk"): 3,
        ("orthrus_scheduled_tokens_total", "generation_prefill"): 4,
        ("orthrus_scheduled_tokens_total", "decode"): 5,
        ("orthrus_token_budget_total", ""): 64,
        ("orthrus_steps_total", "mixed"): 1,
        ("orthrus_steps_total", "embedding"): 2,
        ("orthrus_steps_total", "generation"): 6,
        ("orthrus_batch_fill_ratio", ""): 0,
        ("orthrus_mix_ratio", ""): 0,
        ("orthrus_backlog_tokens", "embedding"): 700,
        ("orthrus_backlog_tokens", "generation"): 80,
        ("orthrus_backlog_requests", "embedding"): 7,
        ("orthrus_backlog_requests", "generation"): 8,
        ("orthrus_kv_cache_usage_ratio", ""): 0.5,
        ("orthrus_snapshot_age_seconds", ""): 0,
    }


def test_stale_gauges_are_left_out_and_counters_stay(
    outer: OuterApp, registry: CollectorRegistry
) -> None:
    outer.clock.now += ANSWER_BOUND_SECONDS + 1
    names = {name for name, _ in _scrape(registry)}
    counters = {metric.name for metric in METRICS if metric.kind == "counter"}
    assert names == counters | {"orthrus_snapshot_age_seconds"}


def test_the_page_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    assert page.read_text() == render(), (
        "run `python -m orthrus_serving.server.metrics_page > docs/metrics.md`"
    )


def _scrape(registry: CollectorRegistry) -> Samples:
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in families
        for sample in family.samples
    }
