"""KEDA's autoscaler, on the backlog of the replicas as Prometheus has it."""

from orthrus_operator.api.autoscaling import Autoscaling
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.backlog_query import backlog_query
from orthrus_operator.builders.metadata import KubernetesObject, child
from orthrus_operator.builders.scaling import behavior, scale_target


def scaled_object(
    orthrus: OrthrusDeployment, scaling: Autoscaling, prometheus: str
) -> KubernetesObject:
    """`prometheus` is the address that KEDA asks.

    Without `fallback`, which would put a number in the place of an error: the HPA keeps its count
    when there is no value, and says so.
    """
    return child(
        orthrus,
        "keda.sh/v1alpha1",
        "ScaledObject",
        spec={
            "scaleTargetRef": scale_target(orthrus),
            # Said, since KEDA takes 0 for the default.
            "minReplicaCount": scaling.min_replicas,
            "maxReplicaCount": scaling.max_replicas,
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": behavior(orthrus, scaling)}},
            "triggers": [
                {
                    "type": "prometheus",
                    "metricType": "AverageValue",
                    "metadata": {
                        "serverAddress": prometheus,
                        "query": backlog_query(orthrus),
                        "threshold": str(orthrus.backlog_target),
                        # Said, since KEDA takes an empty result for 0, which would scale down.
                        "ignoreNullValues": "false",
                    },
                }
            ],
        },
    )
