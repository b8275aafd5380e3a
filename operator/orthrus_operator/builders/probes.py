"""Probes and timing of a replica's life: slow to start, quick to restart, unhurried to end."""

from typing import Any

HTTP_PORT_NAME = "http"

STARTUP_SECONDS = 3600
"""Budget for download and load; slow registries and large models need it."""
_PRE_STOP_SECONDS = 10
"""The pod keeps answering for so long, while kube-proxies forget it."""
PRE_STOP_COMMAND = ("orthrus", "drain", "--announce", "--seconds", str(_PRE_STOP_SECONDS))
_STARTUP_PERIOD_SECONDS = 5
_SHUTDOWN_MARGIN_SECONDS = 30
_ROLLOUT_MARGIN_SECONDS = 300


def grace_seconds(drain_seconds: int) -> int:
    """Time between a pod's deletion and SIGKILL."""
    return _PRE_STOP_SECONDS + drain_seconds + _SHUTDOWN_MARGIN_SECONDS


def progress_deadline_seconds(drain_seconds: int) -> int:
    """A rollout is stuck after this: with surge 0 a step is a whole drain and a whole start."""
    return grace_seconds(drain_seconds) + STARTUP_SECONDS + _ROLLOUT_MARGIN_SECONDS


def probes() -> dict[str, Any]:
    """The container's three probes."""
    return {
        "startupProbe": {
            "httpGet": _get("/ready"),
            "periodSeconds": _STARTUP_PERIOD_SECONDS,
            "timeoutSeconds": 5,
            "failureThreshold": STARTUP_SECONDS // _STARTUP_PERIOD_SECONDS,
        },
        "livenessProbe": {
            "httpGet": _get("/health"),
            "periodSeconds": 10,
            "timeoutSeconds": 10,
            "failureThreshold": 3,
            # A hung engine drains nothing: without this it would block for the pod's whole grace.
            "terminationGracePeriodSeconds": 5,
        },
        "readinessProbe": {
            "httpGet": _get("/ready"),
            "periodSeconds": 5,
            "timeoutSeconds": 5,
            "failureThreshold": 2,
        },
    }


def _get(path: str) -> dict[str, str]:
    return {"path": path, "port": HTTP_PORT_NAME}
