"""The metrics of a real replica, against the table that documents them."""

import time
from pathlib import Path

import httpx
import psutil
import pytest
from openai import OpenAI
from prometheus_client.parser import text_string_to_metric_families

from e2e.waiting import wait_until
from orthrus_serving.server.metric_table import METRICS
from tests.orthrus_serving.server.replica_process import NAME, ReplicaProcess

pytestmark = pytest.mark.engine

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_the_documented_metrics_are_those_that_a_replica_shows(http: httpx.Client) -> None:
    """Those of a GPU are left out where there is none."""
    families = text_string_to_metric_families(http.get("/metrics").text)
    shown = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in families
        if family.name.startswith("orthrus_") and family.samples
    }
    documented = {line.split("`")[1] for line in PAGE.read_text().splitlines() if "| `" in line}

    of_gpu = {metric.name for metric in METRICS if metric.label == "gpu"}
    assert shown | of_gpu == documented


def test_a_request_leaves_its_steps_in_the_histogram(
    replica: ReplicaProcess, openai_client: OpenAI
) -> None:
    openai_client.embeddings.create(model=NAME, input="a cat")

    for phase in ("schedule", "forward", "emit"):
        name = "orthrus_step_seconds_count"
        replica.wait_metric(name, lambda steps: steps > 0, phase=phase)
    assert replica.metric("orthrus_step_seconds_sum", phase="forward") > 0
    replica.wait_metric("orthrus_busy_ratio", lambda ratio: 0 < ratio <= 1)
    replica.wait_metric("orthrus_backlog_seconds", lambda seconds: seconds == 0)
    replica.wait_metric("orthrus_oldest_waiting_seconds", lambda age: age == 0, type="embedding")


def test_a_replica_without_work_leaves_the_cores_to_others(replica: ReplicaProcess) -> None:
    """vLLM's worker spins for a second after each message: one a second would keep a core busy."""

    def busy_share() -> float:
        processes = replica.descendants()
        began, before = time.monotonic(), _cpu_seconds(processes)
        time.sleep(2)
        return (_cpu_seconds(processes) - before) / (time.monotonic() - began)

    wait_until("an idle replica", busy_share, lambda share: share < 0.3, within=40)


def _cpu_seconds(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return sum(each.user + each.system for each in times)
