"""Why a pod that its node ended, or never took, is gone: the Deployment has made another one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthrus_operator.planner.pod_problem import is_ready
from orthrus_operator.planner.problem import Problem

_REFUSED_BY_NODE = frozenset({"UnexpectedAdmissionError", "NodeAffinity"})


def failed_pods(newest_first: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Problems of failed pods that no later pod has made good yet, newest first.

    Such pods stay listed for long: once a later one is ready, they are history.
    """
    for pod in newest_first:
        if is_ready(pod):
            return
        problem = _failure(pod)
        if problem:
            yield problem


def _failure(pod: Mapping[str, Any]) -> Problem | None:
    status, name = pod.get("status", {}), pod["metadata"]["name"]
    if status.get("phase") != "Failed":
        return None
    reason, message = status.get("reason", ""), status.get("message", "").strip()
    if reason == "Evicted":
        return Problem(
            "Evicted",
            f"the node evicted pod {name}: {message} A replica may need more"
            " spec.model.cache.emptyDir.sizeLimit, or requests as high as what it uses",
            stalled=False,
        )
    if reason in _REFUSED_BY_NODE or reason.startswith("OutOf"):
        return Problem(
            "NodeRefusedPod",
            f"the node refused pod {name} ({reason}: {message}); see to the node's devices if it"
            " happens again",
            stalled=False,
        )
    return None
