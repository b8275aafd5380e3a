"""How many replicas a node drain may take at once."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector


def disruption_budget(orthrus: OrthrusDeployment) -> KubernetesObject:
    """One at a time. minAvailable would block the drain of a lone replica's node for ever, and
    without AlwaysAllow a replica that never becomes ready would."""
    return child(
        orthrus,
        "policy/v1",
        "PodDisruptionBudget",
        spec={
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(orthrus)},
        },
    )
