"""What both autoscalers share: what they scale, and how fast."""

from typing import Any

from orthrus_operator.api.autoscaling import Autoscaling
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment

_UP_PERIOD_SECONDS = 60
_UP_PERCENT = 100
_UP_REPLICAS = 2
_DOWN_MARGIN_SECONDS = 60
_LONGEST_PERIOD_SECONDS = 1800
"""The API server takes no longer one."""


def scale_target(orthrus: OrthrusDeployment) -> dict[str, str]:
    """The OrthrusDeployment, never its Deployment, whose replicas the operator sets."""
    return {"apiVersion": API_VERSION, "kind": KIND, "name": orthrus.metadata.name}


def behavior(orthrus: OrthrusDeployment, scaling: Autoscaling) -> dict[str, Any]:
    """Fast up, slow down, for replicas that take minutes to load.

    Up without a window, but at most to the double in a minute (by two at least): the backlog goes
    on growing while replicas load, and must not order the whole pool meanwhile. Down one by one,
    each when the one before has drained.
    """
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                _policy("Percent", _UP_PERCENT, _UP_PERIOD_SECONDS),
                _policy("Pods", _UP_REPLICAS, _UP_PERIOD_SECONDS),
            ],
        },
        "scaleDown": {
            "stabilizationWindowSeconds": scaling.scale_down_delay_seconds,
            "policies": [
                _policy(
                    "Pods",
                    1,
                    min(orthrus.spec.drain_seconds + _DOWN_MARGIN_SECONDS, _LONGEST_PERIOD_SECONDS),
                )
            ],
        },
    }


def _policy(kind: str, value: int, period: int) -> dict[str, Any]:
    return {"type": kind, "value": value, "periodSeconds": period}
