"""An account with exactly the rights that the operator declares, for one that runs as a process."""

import json
from typing import Any

from e2e.kubectl import Kubectl
from orthrus_operator.reconciler.permissions import OWN_PERMISSIONS, PERMISSIONS


def grant(kubectl: Kubectl) -> None:
    """Make the ServiceAccount `operator` in kubectl's namespace, with rights in that alone."""
    rules = [
        {"apiGroups": [rule.group], "resources": [rule.resource], "verbs": list(rule.verbs)}
        for rule in (*PERMISSIONS, *OWN_PERMISSIONS)
    ]
    rbac = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": kubectl.namespace}
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "operator"}},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "Role",
            "metadata": {"name": "operator"},
            "rules": rules,
        },
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "operator"},
            "subjects": [subject],
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "operator"},
        },
    )


def operator_kubeconfig(kubectl: Kubectl) -> dict[str, Any]:
    """The cluster as `kubectl` reaches it, the token of that account."""
    config: dict[str, Any] = json.loads(
        kubectl("config", "view", "--raw", "--minify", "-o", "json")
    )
    token = kubectl("create", "token", "operator").strip()
    config["users"] = [{"name": "operator", "user": {"token": token}}]
    config["contexts"][0]["context"]["user"] = "operator"
    return config
