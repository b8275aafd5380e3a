"""The table of the operator's metrics: sound names, and what is absent when nobody answers."""

import re

import pytest

from orthrus_operator.planner.deployment_load import DeploymentLoad
from orthrus_operator.planner.metric_table import (
    DEPLOYMENT_METRICS,
    OWN_METRICS,
    DeploymentMetric,
    ReplicaCounts,
)
from orthrus_operator.planner.metrics_page import metrics_page

FULL = DeploymentLoad(2, 0.5, 0.5, 0.5, {"embedding": 1.0, "generation": 2.0}, 0.5)


def test_names_follow_the_rules_and_are_there_once() -> None:
    names = [metric.name for metric in (*DEPLOYMENT_METRICS, *OWN_METRICS)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"orthrus_(deployment|operator)_[a-z_]+", name) for name in names)
    for metric in OWN_METRICS:
        assert metric.name.endswith("_total") == (metric.kind == "counter")


@pytest.mark.parametrize("metric", DEPLOYMENT_METRICS, ids=lambda metric: metric.name)
def test_each_gives_the_values_of_its_label(metric: DeploymentMetric) -> None:
    assert tuple(metric.read(ReplicaCounts(), FULL)) == (metric.values or ("",))


def test_the_utilization_that_mig_slices_lack_has_a_substitute_in_the_table() -> None:
    meanings = {metric.name: metric.meaning for metric in DEPLOYMENT_METRICS}
    found = re.search(
        r"on MIG slices: see (\w+)", meanings["orthrus_deployment_gpu_utilization_ratio"]
    )
    assert found
    assert found[1] in meanings


def test_without_an_answer_only_the_counts_of_replicas_are_there() -> None:
    counts = ReplicaCounts(wanted=2, current=2, updated=1, ready=1)
    shown = {
        metric.name: dict(metric.read(counts, DeploymentLoad())) for metric in DEPLOYMENT_METRICS
    }
    replicas = shown.pop("orthrus_deployment_replicas")
    assert replicas == {"wanted": 2, "current": 2, "updated": 1, "ready": 1, "answering": 0}
    assert not any(shown.values())


def test_the_page_has_every_metric() -> None:
    page = metrics_page()
    for metric in (*DEPLOYMENT_METRICS, *OWN_METRICS):
        assert f"| `{metric.name}` |" in page
