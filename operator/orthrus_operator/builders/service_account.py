"""The identity of the replicas: one without any rights, and without a token."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child


def service_account(orthrus: OrthrusDeployment) -> KubernetesObject:
    return child(orthrus, "v1", "ServiceAccount", automountServiceAccountToken=False)
