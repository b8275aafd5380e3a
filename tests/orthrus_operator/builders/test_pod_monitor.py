"""Prometheus scrapes each replica by itself."""

from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.pod_monitor import pod_monitor
from tests.orthrus_operator.making import demo


def test_it_selects_the_pods_and_their_port() -> None:
    monitor = pod_monitor(demo())
    template = pod_template(demo(), "image:1")
    selected = monitor["spec"]["selector"]["matchLabels"]
    assert selected.items() <= template["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    (container,) = template["spec"]["containers"]
    assert endpoint == {"port": container["ports"][0]["name"], "path": "/metrics"}
