"""The batch policies by name."""

from orthrus_serving.scheduling.fcfs import FirstComeFirstServed
from orthrus_serving.scheduling.homogeneous import Homogeneous
from orthrus_serving.scheduling.ibs import IntraBatchScheduling
from orthrus_serving.scheduling.policy import BatchPolicy

POLICY_NAMES = ("ibs", "fcfs", "homogeneous")


def make_policy(name: str, chunk_tokens: int, min_opportunities: int) -> BatchPolicy:
    """Raises ValueError for a name that is not in `POLICY_NAMES`."""
    if name == "ibs":
        return IntraBatchScheduling(chunk_tokens, min_opportunities)
    if name == "fcfs":
        return FirstComeFirstServed()
    if name == "homogeneous":
        return Homogeneous()
    raise ValueError(f"no batch policy {name!r}: choose one of {', '.join(POLICY_NAMES)}")
