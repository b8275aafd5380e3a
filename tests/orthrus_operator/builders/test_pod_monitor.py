"""Prometheus scrapes each replica by itself."""

from pathlib import Path

import yaml

from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.pod_monitor import pod_monitor
from tests.orthrus_operator.making import demo

SCRAPE_CONFIG = Path(__file__).parents[3] / "manifests" / "monitoring" / "scrape-config.yaml"


def test_it_selects_the_pods_and_their_port() -> None:
    monitor = pod_monitor(demo())
    template = pod_template(demo(), "image:1")
    selected = monitor["spec"]["selector"]["matchLabels"]
    assert selected.items() <= template["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    (container,) = template["spec"]["containers"]
    assert (endpoint["port"], endpoint["path"]) == (container["ports"][0]["name"], "/metrics")


def test_each_series_has_the_name_that_rules_group_by_as_in_the_scrape_configuration() -> None:
    (endpoint,) = pod_monitor(demo())["spec"]["podMetricsEndpoints"]
    label = "__meta_kubernetes_pod_label_serving_orthrus_io_deployment"
    assert endpoint["relabelings"] == [{"sourceLabels": [label], "targetLabel": "name"}]


def test_it_is_scraped_as_often_as_by_the_scrape_configuration() -> None:
    (endpoint,) = pod_monitor(demo())["spec"]["podMetricsEndpoints"]
    replicas, _ = yaml.safe_load(SCRAPE_CONFIG.read_text())["scrape_configs"]
    assert endpoint["interval"] == replicas["scrape_interval"]
