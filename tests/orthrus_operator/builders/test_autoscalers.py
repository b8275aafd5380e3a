"""Both autoscalers: what they scale, on what, and how fast."""

from typing import Any

import pytest

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.horizontal_pod_autoscaler import horizontal_pod_autoscaler
from orthrus_operator.builders.scaled_object import scaled_object
from tests.orthrus_operator.making import demo

TARGET = {"apiVersion": "serving.orthrus.io/v1alpha1", "kind": "OrthrusDeployment", "name": "demo"}


def scaled(drain: int = 120, queue: int = 262144, **autoscaling: Any) -> OrthrusDeployment:
    return demo(
        autoscaling={"maxReplicas": 8, **autoscaling},
        drainSeconds=drain,
        scheduling={"maxQueuedTokens": queue},
    )


def hpa(orthrus: OrthrusDeployment) -> dict[str, Any]:
    assert orthrus.spec.autoscaling
    made = horizontal_pod_autoscaler(orthrus, orthrus.spec.autoscaling)
    spec: dict[str, Any] = made["spec"]
    return spec


def keda(orthrus: OrthrusDeployment) -> dict[str, Any]:
    assert orthrus.spec.autoscaling
    made = scaled_object(orthrus, orthrus.spec.autoscaling, "http://prometheus:9090")
    spec: dict[str, Any] = made["spec"]
    return spec


def test_they_scale_the_object_itself_never_its_deployment() -> None:
    assert hpa(scaled())["scaleTargetRef"] == TARGET
    assert keda(scaled())["scaleTargetRef"] == TARGET


def test_the_hpa_compares_each_replicas_backlog() -> None:
    (metric,) = hpa(scaled(backlogTokensPerReplica=4000))["metrics"]
    assert metric == {
        "type": "Pods",
        "pods": {
            "metric": {"name": "orthrus_backlog_tokens"},
            "target": {"type": "AverageValue", "averageValue": "4000"},
        },
    }


def test_bounds() -> None:
    orthrus = scaled(minReplicas=2)
    assert (hpa(orthrus)["minReplicas"], hpa(orthrus)["maxReplicas"]) == (2, 8)
    assert (keda(orthrus)["minReplicaCount"], keda(orthrus)["maxReplicaCount"]) == (2, 8)


def test_keda_never_goes_to_zero_by_its_own_defaults() -> None:
    """An absent minReplicaCount is 0 to KEDA, and an empty answer of Prometheus is 0 work."""
    spec = keda(scaled())
    (trigger,) = spec["triggers"]
    assert spec["minReplicaCount"] == 1
    assert trigger["metadata"]["ignoreNullValues"] == "false"
    assert "fallback" not in spec
    assert "idleReplicaCount" not in spec


def test_keda_asks_the_prometheus_of_the_installation() -> None:
    (trigger,) = keda(scaled(backlogTokensPerReplica=4000))["triggers"]
    assert (trigger["type"], trigger["metricType"]) == ("prometheus", "AverageValue")
    assert trigger["metadata"]["serverAddress"] == "http://prometheus:9090"
    assert trigger["metadata"]["threshold"] == "4000"
    assert "4000 *" in trigger["metadata"]["query"]


@pytest.mark.parametrize(("queue", "target"), [(262144, 8192), (16384, 4096), (3, 1)])
def test_the_default_target_fits_the_queue(queue: int, target: int) -> None:
    assert scaled(queue=queue).backlog_target == target


def test_both_are_fast_up_and_slow_down_one_by_one() -> None:
    behavior = hpa(scaled(drain=300, scaleDownDelaySeconds=900))["behavior"]
    assert behavior["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert behavior["scaleDown"] == {
        "stabilizationWindowSeconds": 900,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 360}],
    }
    advanced = keda(scaled(drain=300, scaleDownDelaySeconds=900))["advanced"]
    assert advanced["horizontalPodAutoscalerConfig"]["behavior"] == behavior


def test_the_wait_for_a_drain_is_one_that_the_api_server_takes() -> None:
    (policy,) = hpa(scaled(drain=3600))["behavior"]["scaleDown"]["policies"]
    assert policy["periodSeconds"] == 1800
