"""Waiting until an operator that was just started has looked at an object."""

import json

from e2e.installation import OPERATOR
from e2e.kubectl import Kubectl
from e2e.readiness import is_observed
from e2e.waiting import wait_until
from orthrus_operator.reconciler.lease import LEASE_NAME

_PORT = 8001
"""Of the replicas' Service: to change it restarts nothing."""


def wait_for_a_look(kubectl: Kubectl, name: str) -> None:
    """Until the operator in the namespace of `kubectl` that runs now, and no earlier one, has
    applied all children of an OrthrusDeployment there: what it would disturb, it has disturbed.
    """
    wait_until(
        "the operator at work is the one that stays",
        lambda: (_operators(kubectl), _holder(kubectl)),
        lambda seen: len(seen[0]) == 1 and seen[1].startswith(f"{seen[0][0]}-"),
        within=90,
    )
    before = (kubectl.get("orth", name) or {}).get("spec", {}).get("service")
    for service in ({"port": _PORT}, before):
        patch = {"spec": {"service": service}}
        kubectl("patch", "orth", name, "--type=merge", "-p", json.dumps(patch))
        wait_until(
            f"orth/{name} as the operator saw it",
            lambda: kubectl.get("orth", name) or {},
            is_observed,
            within=90,
        )


def _operators(kubectl: Kubectl) -> list[str]:
    """Names of their pods, those that are ending included."""
    return [pod["metadata"]["name"] for pod in kubectl.list("pods", OPERATOR)]


def _holder(kubectl: Kubectl) -> str:
    lease = kubectl.get("lease", LEASE_NAME) or {}
    return str(lease.get("spec", {}).get("holderIdentity"))
