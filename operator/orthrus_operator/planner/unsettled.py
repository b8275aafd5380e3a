"""Whether to look again soon: some things change without an event of Kubernetes."""

from collections.abc import Mapping
from typing import Any

from orthrus_operator.planner.unprepared_pod import is_unprepared
from orthrus_operator.planner.world import World


def is_unsettled(world: World, status: Mapping[str, Any]) -> bool:
    """`status` is what was made of `world`."""
    met = {each["type"]: each["status"] == "True" for each in status["conditions"]}
    # A ScaledObject is not watched, and KEDA looks at it when it likes.
    unscaled = world.scaling.scaled_object is not None and not met.get("ScalingActive", True)
    # Nor does a pod that waits for its volumes show for how long.
    return unscaled or any(is_unprepared(pod) for pod in world.pods)
