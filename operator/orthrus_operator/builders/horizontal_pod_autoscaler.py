"""Kubernetes' own autoscaler, on the backlog of the replicas."""

from orthrus_operator.api.autoscaling import Autoscaling
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child
from orthrus_operator.builders.scaling import behavior, scale_target

BACKLOG_METRIC = "orthrus_backlog_tokens"
"""Of a replica, in the custom metrics API: both types together, one value a pod."""


def horizontal_pod_autoscaler(orthrus: OrthrusDeployment, scaling: Autoscaling) -> KubernetesObject:
    """On a metric of pods: the controller takes one without a value for at the target when it
    would scale down, for empty when it would scale up. One summed up outside would shrink with
    every scrape that is missing."""
    return child(
        orthrus,
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={
            "scaleTargetRef": scale_target(orthrus),
            "minReplicas": scaling.min_replicas,
            "maxReplicas": scaling.max_replicas,
            "metrics": [
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": BACKLOG_METRIC},
                        "target": {
                            "type": "AverageValue",
                            "averageValue": str(orthrus.backlog_target),
                        },
                    },
                }
            ],
            "behavior": behavior(orthrus, scaling),
        },
    )
