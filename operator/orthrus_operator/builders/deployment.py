"""The Deployment that keeps the replicas running, also while the operator is down."""

from typing import Any

from orthrus_operator.api.lifecycle import Rollout
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child, selector
from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.probes import progress_deadline_seconds


def deployment(orthrus: OrthrusDeployment, image: str, room: int = 0) -> KubernetesObject:
    """The Deployment whose pods run `image`, and have room for `room` adapters or more."""
    return child(
        orthrus,
        "apps/v1",
        "Deployment",
        spec={
            "replicas": orthrus.spec.replicas,
            "selector": {"matchLabels": selector(orthrus)},
            "strategy": _strategy(orthrus.spec.rollout),
            "progressDeadlineSeconds": progress_deadline_seconds(orthrus.spec.drain_seconds),
            "template": pod_template(orthrus, image, room),
        },
    )


def _strategy(rollout: Rollout) -> dict[str, Any]:
    if rollout.strategy == "Recreate":
        return {"type": "Recreate"}
    surge = 0 if rollout.max_surge is None else rollout.max_surge
    unavailable = 1 if rollout.max_unavailable is None else rollout.max_unavailable
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
    }
