"""A node drain takes one replica at a time, and never hangs."""

from orthrus_operator.builders.disruption_budget import disruption_budget
from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.making import demo


def test_one_at_a_time_and_unready_ones_always() -> None:
    spec = disruption_budget(demo(replicas=1))["spec"]
    assert spec["maxUnavailable"] == 1
    assert "minAvailable" not in spec
    assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    labels = pod_template(demo(), "image:1")["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
