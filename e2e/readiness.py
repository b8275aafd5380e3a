"""Whether an OrthrusDeployment, as the API server stores it, is where its spec wants it."""

from typing import Any


def is_observed(orthrus: dict[str, Any]) -> bool:
    """Whether its status is of its present spec: then every child has been applied."""
    observed = orthrus.get("status", {}).get("observedGeneration")
    return bool(observed == orthrus["metadata"]["generation"])


def is_ready(orthrus: dict[str, Any]) -> bool:
    """Ready, and for the present spec."""
    conditions = orthrus.get("status", {}).get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and is_observed(orthrus)
