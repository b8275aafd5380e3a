import math
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from orthrus_serving.engine.models_report import AdapterState, AdapterStatus, ModelsReport
from orthrus_serving.scheduling.snapshot import (
    STEP_SECONDS_BOUNDS,
    ByTask,
    Durations,
    PhaseSeconds,
    Snapshot,
    StepCounts,
    UnitTokens,
)
from orthrus_serving.server.collector import SnapshotCollector
from orthrus_serving.server.engine_monitor import ANSWER_BOUND_SECONDS
from orthrus_serving.server.gpu import Gpu
from orthrus_serving.server.metric_table import METRICS, REQUEST_METRICS
from orthrus_serving.server.metrics_page import render
from orthrus_serving.server.request_metrics import UNKNOWN_MODEL
from tests.orthrus_serving.server.outer_app import OuterApp

Samples = dict[tuple[str, str], float]


@pytest.fixture
def registry(outer: OuterApp) -> CollectorRegistry:
    waiting = AdapterStatus("e5", "0123", AdapterState.LOADING, serves=False)
    outer.lifecycle.models = lambda: ModelsReport((waiting,), embedding_spaces={"base": "0123"})
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(outer.monitor, Gpu(), outer.lifecycle))
    return registry


OF_GPU = {metric.name for metric in METRICS if metric.label == "gpu"}


def test_every_metric_is_there_at_zero_before_the_first_request(
    registry: CollectorRegistry,
) -> None:
    samples = _scrape(registry)
    assert _families(registry) == {metric.name for metric in METRICS} - OF_GPU
    numbers = {name: value for name, value in samples.items() if not name[0].endswith("_info")}
    assert all(value == 0 and not math.isnan(value) for value in numbers.values())


def test_every_series_of_requests_is_there_at_zero_once_its_model_is_known(
    outer: OuterApp,
) -> None:
    registry = CollectorRegistry()
    registry.register(outer.metrics)
    outer.metrics.expect_models(["known"])
    families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    rows = {row.name.removesuffix("_total"): row for row in REQUEST_METRICS}
    assert {family.name: family.type for family in families} == {
        name: row.kind for name, row in rows.items()
    }
    for family in families:
        row = rows[family.name]
        assert all(sample.value == 0 for sample in family.samples)
        for label, values in row.labels.items():
            seen = {sample.labels[label] for sample in family.samples}
            assert seen == (set(values) or {"known", UNKNOWN_MODEL})


def test_values_come_from_the_last_snapshot(outer: OuterApp, registry: CollectorRegistry) -> None:
    outer.monitor.snapshot = Snapshot(
        scheduled_tokens=UnitTokens(embedding_chunk=3, generation_prefill=4, decode=5),
        token_budget=64,
        steps=StepCounts(mixed=1, embedding=2, generation=6),
        backlog_tokens=ByTask(embedding=700, generation=80),
        backlog_requests=ByTask(embedding=7, generation=8),
        oldest_waiting_seconds=ByTask(embedding=9.5, generation=0.5),
        kv_cache_usage=0.5,
    )
    outer.monitor.window.prefill_rate = 390.0
    samples = _scrape(registry)
    assert {key: n for key, n in samples.items() if "step_seconds" not in key[0]} == {
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
        ("orthrus_busy_ratio", ""): 0,
        ("orthrus_backlog_seconds", ""): 2,
        ("orthrus_oldest_waiting_seconds", "embedding"): 9.5,
        ("orthrus_oldest_waiting_seconds", "generation"): 0.5,
        ("orthrus_kv_cache_usage_ratio", ""): 0.5,
        ("orthrus_adapter_loaded", "e5"): 0,
        ("orthrus_embedding_space_info", "base 0123"): 1,
        ("orthrus_adapters_file_refused", ""): 0,
        ("orthrus_snapshot_age_seconds", ""): 0,
    }


def test_a_histogram_has_cumulative_buckets(outer: OuterApp, registry: CollectorRegistry) -> None:
    counts = [0] * (len(STEP_SECONDS_BOUNDS) + 1)
    counts[0], counts[3], counts[-1] = 5, 2, 1
    forward = Durations(tuple(counts), total=61.0)
    outer.monitor.snapshot = Snapshot(step_seconds=PhaseSeconds(forward=forward))
    samples = _scrape(registry)

    def bucket(bound: str) -> float:
        return samples["orthrus_step_seconds_bucket", f"{bound} forward"]

    assert [bucket(le) for le in ("0.001", "0.005", "0.01", "10.0", "+Inf")] == [5, 5, 7, 7, 8]
    assert samples["orthrus_step_seconds_count", "forward"] == 8
    assert samples["orthrus_step_seconds_sum", "forward"] == 61.0
    assert samples["orthrus_step_seconds_count", "emit"] == 0


def test_a_backlog_that_nobody_has_timed_has_no_seconds(
    outer: OuterApp, registry: CollectorRegistry
) -> None:
    outer.monitor.snapshot = Snapshot(backlog_tokens=ByTask(embedding=700))
    assert ("orthrus_backlog_seconds", "") not in _scrape(registry)


def test_adapters_show_whether_they_serve_and_a_refused_file(
    outer: OuterApp, registry: CollectorRegistry
) -> None:
    adapters = (
        AdapterStatus("good", "0123", AdapterState.LOADED, serves=True),
        AdapterStatus("stale", "0123", AdapterState.FAILED, serves=True, message="its rank is 64"),
        AdapterStatus("bad", "0123", AdapterState.FAILED, serves=False, message="it is not there"),
    )
    outer.lifecycle.models = lambda: ModelsReport(adapters, file_is_valid=False)
    samples = _scrape(registry)
    loaded = {label: v for (name, label), v in samples.items() if name == "orthrus_adapter_loaded"}
    assert loaded == {"good": 1, "stale": 1, "bad": 0}
    assert samples["orthrus_adapters_file_refused", ""] == 1


def test_the_space_of_each_model_that_embeds(outer: OuterApp, registry: CollectorRegistry) -> None:
    spaces = {"base": "0123", "e5": "4567"}
    outer.lifecycle.models = lambda: ModelsReport(embedding_spaces=spaces)
    assert {
        label: value
        for (name, label), value in _scrape(registry).items()
        if name == "orthrus_embedding_space_info"
    } == {"base 0123": 1, "e5 4567": 1}


def test_stale_gauges_are_left_out_and_counters_stay(
    outer: OuterApp, registry: CollectorRegistry
) -> None:
    outer.clock.now += ANSWER_BOUND_SECONDS + 1
    lasting = {metric.name for metric in METRICS if metric.kind != "gauge"}
    of_server = {metric.name for metric in METRICS if not metric.of_engine}
    assert "orthrus_snapshot_age_seconds" in of_server
    without_gpu = {name for name in of_server if "_gpu_" not in name}
    assert _families(registry) == lasting | without_gpu


def test_the_page_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    assert page.read_text() == render(), (
        "run `python -m orthrus_serving.server.metrics_page > docs/metrics.md`"
    )


def _families(registry: CollectorRegistry) -> set[str]:
    """Names as the table has them, of the families that have samples."""
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in families
        if family.samples
    }


def _scrape(registry: CollectorRegistry) -> Samples:
    """Values by name and label values, these in the order of the labels' names."""
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (sample.name, " ".join(v for _, v in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }
