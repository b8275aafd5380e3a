"""Where the API server keeps each kind of object."""

from orthrus_operator.api.group import API_VERSION, KIND, PLURAL
from orthrus_operator.builders.metadata import KubernetesObject

CHILD_KINDS = (
    ("v1", "ServiceAccount"),
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
)
"""Every kind that the operator creates: what it lists, watches and prunes."""

PLURALS = {
    "ServiceAccount": "serviceaccounts",
    "Deployment": "deployments",
    "Service": "services",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "Pod": "pods",
    "Event": "events",
    KIND: PLURAL,
}


def collection_path(api_version: str, kind: str, namespace: str) -> str:
    root = "/apis" if "/" in api_version else "/api"
    return f"{root}/{api_version}/namespaces/{namespace}/{PLURALS[kind]}"


def child_path(api_version: str, kind: str, namespace: str, name: str) -> str:
    return f"{collection_path(api_version, kind, namespace)}/{name}"


def object_path(obj: KubernetesObject) -> str:
    metadata = obj["metadata"]
    return child_path(obj["apiVersion"], obj["kind"], metadata["namespace"], metadata["name"])


def orthrus_path(namespace: str, name: str) -> str:
    return child_path(API_VERSION, KIND, namespace, name)
