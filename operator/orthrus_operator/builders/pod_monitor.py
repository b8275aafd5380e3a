"""How the Prometheus Operator finds the replicas' metrics."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector
from orthrus_operator.builders.probes import HTTP_PORT_NAME


def pod_monitor(orthrus: OrthrusDeployment) -> KubernetesObject:
    """Each pod on its own: a Service would show another replica's numbers at every scrape."""
    return child(
        orthrus,
        "monitoring.coreos.com/v1",
        "PodMonitor",
        spec={
            "selector": {"matchLabels": selector(orthrus)},
            "podMetricsEndpoints": [{"port": HTTP_PORT_NAME, "path": "/metrics"}],
        },
    )
