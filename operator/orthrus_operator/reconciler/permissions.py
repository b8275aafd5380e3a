"""Every right that the operator uses; the chart's Roles are checked against this list."""

from dataclasses import dataclass

from orthrus_operator.api.group import GROUP, PLURAL


@dataclass(frozen=True)
class Permission:
    """Rights on one resource; `verbs` are RBAC verbs, without wildcards."""

    group: str
    resource: str
    verbs: tuple[str, ...]


_CHILD_VERBS = ("get", "list", "watch", "create", "patch", "delete")
_OPTIONAL_VERBS = ("get", "list", "create", "patch", "delete")

PERMISSIONS = (
    Permission(GROUP, PLURAL, ("get", "list", "watch")),
    Permission(GROUP, f"{PLURAL}/status", ("patch",)),
    # Clusters with the OwnerReferencesPermissionEnforcement admission plug-in (OpenShift) ask for
    # this right before an ownerReference may block the owner's deletion.
    Permission(GROUP, f"{PLURAL}/finalizers", ("update",)),
    Permission("apps", "deployments", _CHILD_VERBS),
    Permission("", "configmaps", _CHILD_VERBS),
    Permission("", "services", _CHILD_VERBS),
    Permission("", "serviceaccounts", _CHILD_VERBS),
    Permission("policy", "poddisruptionbudgets", _CHILD_VERBS),
    Permission("networking.k8s.io", "networkpolicies", _CHILD_VERBS),
    Permission("autoscaling", "horizontalpodautoscalers", _CHILD_VERBS),
    Permission("monitoring.coreos.com", "podmonitors", _OPTIONAL_VERBS),
    Permission("keda.sh", "scaledobjects", _OPTIONAL_VERBS),
    Permission("", "pods", ("list", "watch", "patch")),
    Permission("events.k8s.io", "events", ("create", "patch")),
)
"""In each namespace that the operator serves."""

OWN_PERMISSIONS = (Permission("coordination.k8s.io", "leases", ("get", "create", "update")),)
"""In the operator's own namespace. Nothing is needed at cluster scope: the installed
schema is read from /openapi/v3, which every authenticated client may read."""
