"""Which namespace a command is about when none is named."""

import os
from pathlib import Path

from kubernetes.aio.config import list_kube_config_contexts

from orthrus_operator.reconciler.client import in_pod

_OF_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def present_namespace() -> str:
    """As kubectl has it: the pod's own in a pod, else that of the kubeconfig's context.

    Raises kubernetes.aio.config.ConfigException when there is no kubeconfig.
    """
    if in_pod():
        return _OF_POD.read_text().strip()
    # Named here, since the library reads the variable when it is imported.
    _, active = list_kube_config_contexts(os.environ.get("KUBECONFIG"))  # type: ignore[no-untyped-call]
    return str(active["context"].get("namespace", "default"))
