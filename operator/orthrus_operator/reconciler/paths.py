"""Where the API server keeps each kind of object."""

from orthrus_operator.api.group import API_VERSION, KIND, PLURAL
from orthrus_operator.builders.metadata import KubernetesObject

POD_NEEDS = (("v1", "ServiceAccount"), ("v1", "ConfigMap"))
"""Kinds of children that pods name: there and ours before them, gone only after them."""

CHILD_KINDS = (
    *POD_NEEDS,
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
"""Every kind without which nothing is done: what it lists, watches and prunes on any cluster."""

AUTOSCALER = ("autoscaling/v2", "HorizontalPodAutoscaler")
"""Likewise, but replicas serve without it; and those of others scale our objects, too."""

OPTIONAL_CHILD_KINDS = (
    ("monitoring.coreos.com/v1", "PodMonitor"),
    ("keda.sh/v1alpha1", "ScaledObject"),
)
"""Kinds that a cluster may lack: never watched, since a watch of a kind that comes later idles."""

PLURALS = {
    "ServiceAccount": "serviceaccounts",
    "ConfigMap": "configmaps",
    "Deployment": "deployments",
    "Service": "services",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "NetworkPolicy": "networkpolicies",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "PodMonitor": "podmonitors",
    "ScaledObject": "scaledobjects",
    "Pod": "pods",
    "Event": "events",
    "Lease": "leases",
    KIND: PLURAL,
}


def collection_path(api_version: str, kind: str, namespace: str | None) -> str:
    """Of one namespace; of all without."""
    root = "/apis" if "/" in api_version else "/api"
    place = f"namespaces/{namespace}/" if namespace else ""
    return f"{root}/{api_version}/{place}{PLURALS[kind]}"


def resource_of(path: str) -> str:
    """The resource that a request is about, with its subresource, as in a Role: never a name."""
    root, *parts = path.partition("?")[0].strip("/").split("/")
    parts = parts[1:] if root == "api" else parts[2:] if root == "apis" else [root]
    if parts[0] == "namespaces" and len(parts) > 2:
        parts = parts[2:]
    return "/".join([parts[0], *parts[2:]])


def child_path(api_version: str, kind: str, namespace: str, name: str) -> str:
    return f"{collection_path(api_version, kind, namespace)}/{name}"


def object_path(obj: KubernetesObject) -> str:
    metadata = obj["metadata"]
    return child_path(obj["apiVersion"], obj["kind"], metadata["namespace"], metadata["name"])


def orthrus_path(namespace: str, name: str) -> str:
    return child_path(API_VERSION, KIND, namespace, name)
