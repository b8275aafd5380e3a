"""What the chart offers to a Prometheus Operator and to Grafana, beside the operator's metrics."""

import json

import yaml

from tests.chart.objects import MINIMAL, ROOT, Render, kinds

MANIFESTS = ROOT / "manifests" / "monitoring"


def test_rules_and_dashboard_are_made_on_request_only(render: Render) -> None:
    assert not kinds(render(), "PrometheusRule", "ConfigMap")


def test_the_rules_are_those_of_the_manifests(render: Render) -> None:
    wanted = ("metrics.prometheusRule.enabled=true", "metrics.prometheusRule.labels.release=mine")
    [rule] = kinds(render(MINIMAL, *wanted), "PrometheusRule")
    assert rule["spec"] == yaml.safe_load((MANIFESTS / "rules.yaml").read_text())
    assert rule["metadata"]["labels"]["release"] == "mine"


def test_the_dashboard_is_a_config_map_that_grafana_finds(render: Render) -> None:
    [found] = kinds(render(MINIMAL, "metrics.dashboard.enabled=true"), "ConfigMap")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert found["data"]["orthrus.json"] == (MANIFESTS / "dashboard.json").read_text()
    assert json.loads(found["data"]["orthrus.json"])["title"] == "Orthrus"
