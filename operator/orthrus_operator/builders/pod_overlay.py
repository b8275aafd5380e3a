"""`spec.podTemplate`, merged into the pod that the operator makes."""

from collections.abc import Iterable
from typing import Any

from orthrus_operator.api.pod_template import PodSpec, PodTemplate

_SET = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
_NAMES = ("priorityClassName", "runtimeClassName")


def with_overlay(template: dict[str, Any], overlay: PodTemplate | None) -> dict[str, Any]:
    """`template` with what `overlay` adds, by the rules of a strategic merge patch.

    Maps are merged; lists with a merge key too, items of one key the overlay's; of the rest the
    operator sets nothing itself.
    """
    if overlay is None:
        return template
    metadata, spec = dict(template["metadata"]), dict(template["spec"])
    if overlay.metadata:
        given = overlay.metadata
        # The operator's labels last: its selector needs them.
        metadata["labels"] = {**(given.labels or {}), **metadata["labels"]}
        if given.annotations:
            metadata["annotations"] = given.annotations
    if overlay.spec:
        spec = _with_spec(spec, overlay.spec)
    return {"metadata": metadata, "spec": spec}


def _with_spec(spec: dict[str, Any], overlay: PodSpec) -> dict[str, Any]:
    given = overlay.model_dump(by_alias=True, mode="json", exclude_none=True)
    merged = {**spec, **{name: given[name] for name in (*_SET, *_NAMES) if name in given}}
    added_volumes = [_existing(volume) for volume in given.get("volumes", [])]
    merged["volumes"] = _merged(spec["volumes"], added_volumes, "name")
    (container,) = spec["containers"]
    for added in given.get("containers", []):
        container = {
            **container,
            "env": _merged(container["env"], added.get("env", []), "name"),
            "volumeMounts": _merged(
                container["volumeMounts"], added.get("volumeMounts", []), "mountPath"
            ),
        }
    merged["containers"] = [container]
    return merged


def _existing(volume: dict[str, Any]) -> dict[str, Any]:
    """A folder of the node must be there: kubelet would make it, or mount a file, as root."""
    if "hostPath" not in volume:
        return volume
    return {**volume, "hostPath": {**volume["hostPath"], "type": "Directory"}}


def _merged(
    base: list[dict[str, Any]], given: Iterable[dict[str, Any]], key: str
) -> list[dict[str, Any]]:
    by_key = {item[key]: item for item in base} | {item[key]: item for item in given}
    return list(by_key.values())
