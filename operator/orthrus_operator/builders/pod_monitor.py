"""How the Prometheus Operator finds the replicas' metrics."""

import re

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector
from orthrus_operator.builders.probes import HTTP_PORT_NAME

_INTERVAL = "10s"
"""As in the scrape configuration: an autoscaler sees load no sooner than Prometheus does."""
_OWNER = "__meta_kubernetes_pod_label_" + re.sub(r"[^a-zA-Z0-9_]", "_", DEPLOYMENT_LABEL)


def pod_monitor(orthrus: OrthrusDeployment) -> KubernetesObject:
    """Each pod on its own: a Service would show another replica's numbers at every scrape."""
    return child(
        orthrus,
        "monitoring.coreos.com/v1",
        "PodMonitor",
        spec={
            "selector": {"matchLabels": selector(orthrus)},
            "podMetricsEndpoints": [
                {
                    "port": HTTP_PORT_NAME,
                    "path": "/metrics",
                    "interval": _INTERVAL,
                    # The label `name` by which rules and dashboard group the replicas.
                    "relabelings": [{"sourceLabels": [_OWNER], "targetLabel": "name"}],
                }
            ],
        },
    )
