"""Which network traffic reaches the replicas."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector
from orthrus_operator.builders.probes import HTTP_PORT_NAME


def network_policy(orthrus: OrthrusDeployment) -> KubernetesObject:
    """Only the HTTP port, from anywhere: vLLM's own sockets trust whoever reaches them."""
    return child(
        orthrus,
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={
            "podSelector": {"matchLabels": selector(orthrus)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"port": HTTP_PORT_NAME, "protocol": "TCP"}]}],
        },
    )
