"""The Service in front of the replicas."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector
from orthrus_operator.builders.probes import HTTP_PORT_NAME


def service(orthrus: OrthrusDeployment) -> KubernetesObject:
    wanted = orthrus.spec.service
    return child(
        orthrus,
        "v1",
        "Service",
        spec={
            "type": wanted.type,
            "selector": selector(orthrus),
            "ports": [
                {
                    "name": HTTP_PORT_NAME,
                    "port": wanted.port,
                    "targetPort": HTTP_PORT_NAME,
                    "protocol": "TCP",
                    "appProtocol": "http",
                }
            ],
        },
    )


def endpoint(orthrus: OrthrusDeployment) -> str:
    """Address of the API inside the cluster, without path."""
    port = orthrus.spec.service.port
    host = f"{orthrus.metadata.name}.{orthrus.metadata.namespace}.svc"
    return f"http://{host}" if port == 80 else f"http://{host}:{port}"
