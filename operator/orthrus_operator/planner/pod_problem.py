"""Why a pod isn't ready, read from the pod alone."""

import re
from collections.abc import Mapping
from typing import Any

from orthrus_operator.api.reasons import Reason
from orthrus_operator.builders.pod import CONTAINER_NAME
from orthrus_operator.planner.problem import Problem

_IMAGE_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
)
_CONFIGURATION_REASONS = frozenset({"CreateContainerConfigError", "CreateContainerError"})
_START_FAILURES: dict[str, Reason] = {
    "ModelNotFound": "ModelNotFound",
    "ModelUnsupported": "ModelUnsupported",
    "InvalidArguments": "InvalidArguments",
    "OutOfMemory": "OutOfMemory",
    "StartFailed": "StartFailed",
}
"""By the word with which a replica's termination message starts."""
_PERMANENT: frozenset[Reason] = frozenset({"ModelNotFound", "ModelUnsupported", "InvalidArguments"})
_TERMINATION_MESSAGE = re.compile(r"^(?P<reason>[A-Z][A-Za-z]+): (?P<text>.+)")


def pod_problem(pod: Mapping[str, Any]) -> Problem | None:
    """The problem of one pod; None when it is ready, ending, or just on its way."""
    status = pod.get("status", {})
    if pod["metadata"].get("deletionTimestamp") or status.get("phase") in ("Failed", "Succeeded"):
        return None
    if is_ready(pod):
        return None
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("reason") == "Unschedulable":
        return _unschedulable(pod["metadata"]["name"], scheduled.get("message", ""))
    for container in status.get("containerStatuses", []):
        if container["name"] == CONTAINER_NAME:
            return _container_problem(pod["metadata"]["name"], container)
    return None


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether it answers requests."""
    return _condition(pod, "Ready").get("status") == "True"


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Empty while the pod has none of that type."""
    conditions: list[Mapping[str, Any]] = pod.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind), {})


def _unschedulable(pod: str, message: str) -> Problem:
    if "persistentvolumeclaim" in message.lower():
        return Problem(
            "VolumeNotBound",
            f"pod {pod} waits for a volume; create or fix the claim it names ({message})",
            stalled=False,
        )
    gpu = re.search(r"Insufficient (\S+/[^\s,]*[^\s.,])", message)
    if gpu:
        return Problem(
            "NoFreeGPU",
            f"no node has a free {gpu[1]} for pod {pod}; free one, add a node or lower"
            f" spec.replicas ({message})",
            stalled=False,
        )
    return Problem("Unschedulable", f"no node fits pod {pod} ({message})", stalled=False)


def _container_problem(pod: str, container: Mapping[str, Any]) -> Problem | None:
    waiting = container.get("state", {}).get("waiting", {})
    reason = waiting.get("reason", "")
    if reason in _IMAGE_REASONS:
        # Pull and back-off alternate: the cause is what both messages end with.
        cause = waiting.get("message", reason).rpartition("ErrImagePull: ")[2]
        return Problem(
            "InvalidImageName" if reason == "InvalidImageName" else "ImagePullFailed",
            f"pod {pod} cannot pull {container['image']}; check spec.image, its pullSecrets and"
            f" the operator's image settings ({cause})",
            stalled=reason == "InvalidImageName",
        )
    if reason in _CONFIGURATION_REASONS:
        return Problem(
            "InvalidPodConfiguration",
            f"pod {pod} cannot start its container: {waiting.get('message', reason)}",
            stalled=False,
        )
    # While it waits or runs for another try, the last end still tells why it isn't ready.
    ended = container.get("state", {}).get("terminated") or container.get("lastState", {}).get(
        "terminated"
    )
    return _ended(pod, ended) if ended else None


def _ended(pod: str, ended: Mapping[str, Any]) -> Problem:
    text = ended.get("message", "").strip()
    declared = _TERMINATION_MESSAGE.match(text)
    if declared and declared["reason"] in _START_FAILURES:
        reason = _START_FAILURES[declared["reason"]]
        message = f"pod {pod} cannot serve: {declared['text']}"
        return Problem(reason, message, stalled=reason in _PERMANENT)
    if ended.get("reason") == "OOMKilled":
        return Problem(
            "OutOfMemory",
            f"pod {pod} was killed for using more memory than its limit; raise"
            " spec.resources.limits.memory or use a smaller model",
            stalled=False,
        )
    last_line = f"; its last line: {text.splitlines()[-1]}" if text else ""
    return Problem(
        "Crashed",
        f"pod {pod} ended with exit code {ended.get('exitCode')}{last_line}; see kubectl logs"
        f" --previous {pod}",
        stalled=False,
    )
