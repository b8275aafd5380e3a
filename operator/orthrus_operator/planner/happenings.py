"""Which changes of the status are worth an event: a few, and none while nothing changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_UNREMARKABLE = frozenset(
    {
        "Progressing",
        "AdaptersLoading",
        "Paused",
        "ReplicasReady",
        "ScaledToZero",
        "ValidMetricFound",
        "ScalingDisabled",
        "OneSpace",
    }
)
"""Reasons that are part of a healthy life; every other one is a warning."""


@dataclass(frozen=True)
class Happening:
    """One thing that happened to an OrthrusDeployment, as `kubectl describe` lists it."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


def happenings(previous: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[Happening, ...]:
    """What happened between two statuses.

    Messages alone may change as often as they like: counts and names of pods are in them.
    """
    before, after = _conditions(previous), _conditions(status)
    ready, available = after["Ready"], after["Available"]
    found = []
    if _moved(before, after, "Ready", "status", "reason") or _moved(
        before, after, "Stalled", "status"
    ):
        found.append(_happening(ready))
    # The first status of a new object says that nothing is available: no news.
    if (
        before
        and _moved(before, after, "Available", "status")
        and available["status"] != "Unknown"
        and available["reason"] not in {each.reason for each in found}
    ):
        found.append(_happening(available))
    for type_ in ("ScalingActive", "EmbeddingSpaceConsistent"):
        now = after.get(type_, {}).get("status")
        # That all is well from the start is no news.
        if now != before.get(type_, {}).get("status") and (
            now == "False" or (now == "True" and _was_false(before, type_))
        ):
            found.append(_happening(after[type_]))
    return tuple(found)


def _was_false(before: Mapping[str, Mapping[str, Any]], type_: str) -> bool:
    return bool(before.get(type_, {}).get("status") == "False")


def _conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {each["type"]: each for each in status.get("conditions", [])}


def _moved(
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    type_: str,
    *fields: str,
) -> bool:
    return any(before.get(type_, {}).get(field) != after[type_][field] for field in fields)


def _happening(condition: Mapping[str, Any]) -> Happening:
    reason = condition["reason"]
    return Happening(
        "Normal" if reason in _UNREMARKABLE else "Warning", reason, condition["message"]
    )
