"""Which autoscaler is made, and what is said when none can be."""

from typing import Any

from orthrus_operator.planner.desired import Installation, desired
from orthrus_operator.planner.serving_image import ServingImages
from tests.orthrus_operator.making import demo

IMAGES = ServingImages(gpu="image:1")
WITH_PROMETHEUS = Installation(IMAGES, prometheus="http://prometheus:9090")


def autoscalers(installation: Installation, **spec: Any) -> list[str]:
    found = desired(demo(**spec), installation, None)
    return [each["kind"] for each in found.objects if each["kind"].endswith(("scaler", "Object"))]


def test_none_is_made_unless_it_is_asked_for() -> None:
    assert autoscalers(WITH_PROMETHEUS) == []


def test_the_backend_decides_the_kind() -> None:
    hpa, keda = ({"maxReplicas": 2, "backend": backend} for backend in ("hpa", "keda"))
    assert autoscalers(WITH_PROMETHEUS, autoscaling=hpa) == ["HorizontalPodAutoscaler"]
    assert autoscalers(WITH_PROMETHEUS, autoscaling=keda) == ["ScaledObject"]


def test_without_an_address_to_ask_keda_is_given_nothing_and_replicas_serve() -> None:
    keda = {"maxReplicas": 2, "backend": "keda"}
    found = desired(demo(autoscaling=keda), Installation(IMAGES), None)
    assert found.unscaled
    assert found.unscaled.reason == "NoPrometheus"
    assert "prometheus.url" in found.unscaled.message
    assert found.problem is None
    kinds = [each["kind"] for each in found.objects]
    assert "Deployment" in kinds
    assert "ScaledObject" not in kinds


def test_the_replicas_of_the_spec_stay_what_whoever_scales_made_them() -> None:
    """The Deployment follows spec.replicas, autoscaling or not; nothing of ours sets it."""
    hpa = {"minReplicas": 2, "maxReplicas": 8}
    found = desired(demo(autoscaling=hpa, replicas=5), WITH_PROMETHEUS, None)
    (deployment,) = [each for each in found.objects if each["kind"] == "Deployment"]
    assert deployment["spec"]["replicas"] == 5
