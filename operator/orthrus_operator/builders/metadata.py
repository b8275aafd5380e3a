"""Identity of the children: kinds, names, labels, owner reference."""

from typing import Any

from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment

KubernetesObject = dict[str, Any]


def selector(orthrus: OrthrusDeployment) -> dict[str, str]:
    """Labels that select this deployment's pods; immutable in the Deployment, so never extended."""
    return {DEPLOYMENT_LABEL: orthrus.metadata.name}


def labels(orthrus: OrthrusDeployment) -> dict[str, str]:
    """Labels of every child and pod."""
    return {
        "app.kubernetes.io/name": "orthrus-replica",
        "app.kubernetes.io/instance": orthrus.metadata.name,
        "app.kubernetes.io/managed-by": "orthrus",
        **selector(orthrus),
    }


def child(
    orthrus: OrthrusDeployment, api_version: str, kind: str, **content: Any
) -> KubernetesObject:
    """An object that belongs to `orthrus`, has its name, and is garbage-collected with it."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": orthrus.metadata.name,
            "namespace": orthrus.metadata.namespace,
            "labels": labels(orthrus),
            "ownerReferences": [
                {
                    "apiVersion": API_VERSION,
                    "kind": KIND,
                    "name": orthrus.metadata.name,
                    "uid": orthrus.metadata.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        **content,
    }
