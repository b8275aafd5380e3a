"""Whether to look again soon: some things change without an event of Kubernetes."""

from collections.abc import Mapping
from typing import Any

from orthrus_operator.planner.awaited_drain import awaited_drains
from orthrus_operator.planner.unprepared_pod import is_unprepared
from orthrus_operator.planner.world import World


def is_unsettled(world: World, status: Mapping[str, Any], now: str) -> bool:
    """`status` is what was made of `world` at `now` (RFC 3339)."""
    met = {each["type"]: each["status"] == "True" for each in status["conditions"]}
    # A ScaledObject is not watched, and KEDA looks at it when it likes.
    unscaled = world.scaling.scaled_object is not None and not met.get("ScalingActive", True)
    # Nor does a pod that waits for its volumes, or that ends on a dead node, show for how long.
    unprepared = any(is_unprepared(pod) for pod in world.pods)
    return unscaled or unprepared or bool(awaited_drains(world.pods, now))
