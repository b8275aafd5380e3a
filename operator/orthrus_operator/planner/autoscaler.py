"""Which autoscaler an OrthrusDeployment gets."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.horizontal_pod_autoscaler import horizontal_pod_autoscaler
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.scaled_object import scaled_object
from orthrus_operator.planner.problem import Problem

AUTOSCALER_KINDS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
"""Of these, an object has at most one: two on one target block each other."""


def autoscaler(
    orthrus: OrthrusDeployment, prometheus: str | None
) -> KubernetesObject | Problem | None:
    """The one that the spec asks for, or why it cannot be made; `prometheus` is the address that
    KEDA asks."""
    scaling = orthrus.spec.autoscaling
    if scaling is None:
        return None
    if scaling.backend == "hpa":
        return horizontal_pod_autoscaler(orthrus, scaling)
    if prometheus is None:
        return Problem(
            "NoPrometheus",
            "the operator was not told which Prometheus KEDA is to ask: set prometheus.url in the"
            " chart's values, or spec.autoscaling.backend to hpa",
            stalled=True,
        )
    return scaled_object(orthrus, scaling, prometheus)
