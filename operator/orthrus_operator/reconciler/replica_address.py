"""Where a replica answers."""

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.pod import PORT
from orthrus_operator.planner.pod_problem import is_ready


def replica_address(pod: KubernetesObject) -> str:
    """`http://HOST:PORT` of the pod."""
    address = pod["status"].get("podIP", "")
    host = f"[{address}]" if ":" in address else address
    return f"http://{host}:{PORT}"


def serves(pod: KubernetesObject) -> bool:
    """Whether it is ready, and not on its way out."""
    return is_ready(pod) and not pod["metadata"].get("deletionTimestamp")
