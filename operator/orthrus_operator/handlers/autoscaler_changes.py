"""Which changes of an HPA are worth a look: its numbers change all the time, and tell us nothing.

Only what decides whether to wake is remembered here; a look reads everything live.
"""

from collections.abc import Collection, Mapping
from typing import Any

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.planner.scaling_state import target_name

_Seen = tuple[frozenset[str], Any]


class AutoscalerChanges:
    """Remembers of each HPA what it was like when it last woke somebody."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}
        """By namespace and name."""

    def concerned(self, event: str | None, body: Mapping[str, Any]) -> frozenset[str]:
        """Names of the OrthrusDeployments, of its namespace, that an event of an HPA is about."""
        metadata = body["metadata"]
        place = metadata["namespace"], metadata["name"]
        names, state = _names(body), _state(body)
        before, then = self._seen.pop(place, (frozenset(), None))
        if event != "DELETED" and (names or before):
            self._seen[place] = (names, state)
        changed = event == "DELETED" or then != state
        return names | before if changed else frozenset()

    def listed(self, namespace: str, names: Collection[str]) -> None:
        """Forgets what is not there any more, should its end have been missed."""
        gone = [place for place in self._seen if place[0] == namespace and place[1] not in names]
        for place in gone:
            del self._seen[place]


def _names(body: Mapping[str, Any]) -> frozenset[str]:
    """What it scales, and what it belongs to."""
    owner = body["metadata"].get("labels", {}).get(DEPLOYMENT_LABEL)
    return frozenset(name for name in (target_name(body), owner) if name)


def _state(body: Mapping[str, Any]) -> Any:
    """All but numbers, times and messages."""
    metadata = body["metadata"]
    conditions = body.get("status", {}).get("conditions") or []
    return (
        [metadata.get(key) for key in ("labels", "ownerReferences", "deletionTimestamp")],
        body["spec"],
        [(each["type"], each["status"], each.get("reason")) for each in conditions],
    )
