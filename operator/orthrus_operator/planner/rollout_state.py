"""What a Deployment says of its replicas."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orthrus_operator.planner.problem import Problem

_POD_NAME = re.compile(r'^pods "[^"]*" is forbidden: ')


@dataclass(frozen=True)
class RolloutState:
    """Replica counts of a Deployment; all zero when there is none yet."""

    replicas: int = 0
    ready: int = 0
    updated: int = 0
    wanted: int = 0
    """By the Deployment itself."""
    current: bool = False
    """Whether the counts speak of the Deployment's present spec."""

    @property
    def over(self) -> bool:
        """Whether no pod of an earlier template is left, nor made again when it ends."""
        return self.current and self.updated == self.replicas == self.wanted


def rollout_state(deployment: Mapping[str, Any] | None) -> RolloutState:
    if deployment is None:
        return RolloutState()
    status = deployment.get("status", {})
    return RolloutState(
        replicas=status.get("replicas", 0),
        ready=status.get("readyReplicas", 0),
        updated=status.get("updatedReplicas", 0),
        wanted=deployment.get("spec", {}).get("replicas", 0),
        current=status.get("observedGeneration", 0) >= deployment["metadata"]["generation"],
    )


def rollout_problems(deployment: Mapping[str, Any] | None) -> Iterator[Problem]:
    """Problems that show on the Deployment and on no pod."""
    conditions = (deployment or {}).get("status", {}).get("conditions", [])
    current = rollout_state(deployment).current
    for condition in conditions:
        # Each try names another pod; without the name the message stays the same.
        message = _POD_NAME.sub("", condition.get("message", ""))
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
            if "exceeded quota" in message:
                yield Problem(
                    "QuotaExceeded",
                    f"the namespace's quota allows no further replica; raise it or lower"
                    f" spec.replicas or spec.resources ({message})",
                    stalled=False,
                )
            else:
                yield Problem(
                    "PodRefused", f"the cluster refuses the pod: {message}", stalled=False
                )
        # What an earlier spec's rollout came to says nothing of the present one.
        if current and condition.get("reason") == "ProgressDeadlineExceeded":
            yield Problem(
                "ProgressDeadlineExceeded",
                "the rollout has made no progress for longer than a start may take; see kubectl"
                " describe pod",
                stalled=True,
            )
