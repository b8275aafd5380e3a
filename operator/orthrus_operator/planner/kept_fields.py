"""What a cluster made of an object that it was asked to store."""

import json
from collections.abc import Iterable
from typing import Any

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.containment import Difference
from orthrus_operator.planner.problem import Problem

_LONGEST_VALUE = 120
"""Characters shown of it."""


def has_image_volume(desired: KubernetesObject) -> bool:
    """Whether its pods mount an image: a volume that not every cluster keeps."""
    pod = desired.get("spec", {}).get("template", {}).get("spec", {})
    return any("image" in volume for volume in pod.get("volumes", []))


def dropped_problem(desired: KubernetesObject, found: Iterable[Difference]) -> Problem | None:
    """A disabled feature gate makes the API server drop fields without a word."""
    dropped = next((each.field for each in found if each.found is None), None)
    if dropped is None:
        return None
    what = f"the cluster does not keep {dropped} of {_name(desired)}"
    need = (
        "an oci:// source needs the feature ImageVolume of API server and kubelet, and a container"
        " runtime with image volumes; use another kind of source"
        if has_image_volume(desired)
        else "it needs Kubernetes 1.30 or later, and no admission plug-in that removes it"
    )
    return Problem("FieldDropped", f"{what}; {need}", stalled=True)


def rewriting_note(desired: KubernetesObject, found: Iterable[Difference]) -> str | None:
    """What an admission plug-in made of values, such as an image of a mirror: its right, as long as
    replicas work, but someone may look for it."""
    rewritten = [
        f"{each.field} {_shown(each.found)}, not {_shown(each.wanted)}"
        for each in found
        if each.found is not None
    ]
    return f"the cluster made {' and '.join(rewritten)} in {_name(desired)}" if rewritten else None


def _name(desired: KubernetesObject) -> str:
    return f"{desired['kind']} {desired['metadata']['name']}"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
