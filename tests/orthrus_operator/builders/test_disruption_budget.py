"""A node drain takes one replica at a time, and never hangs."""

from orthrus_operator.builders.disruption_budget import disruption_budget
from orthrus_operator.builders.pod import pod_template


def test_one_at_a_time_and_unready_ones_always(make) -> None:
    spec = disruption_budget(make(replicas=1))["spec"]
    assert spec["maxUnavailable"] == 1
    assert "minAvailable" not in spec
    assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    labels = pod_template(make(), "image:1")["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
