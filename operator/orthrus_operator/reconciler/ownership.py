"""Whether an existing object may be touched."""

from orthrus_operator.api.group import KIND
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.problem import Problem


def is_owned(live: KubernetesObject, owner_uid: str) -> bool:
    """Whether `owner_uid` is among the owners of `live`."""
    return any(each["uid"] == owner_uid for each in live["metadata"].get("ownerReferences", []))


def ownership_problem(live: KubernetesObject, owner_uid: str) -> Problem | None:
    """None when `live` is ours and stays; else why it must be left alone.

    Forced server-side apply would take over a stranger's object of the same name without a word.
    """
    metadata = live["metadata"]
    name = f"{live['kind']} {metadata['name']}"
    if is_owned(live, owner_uid):
        if metadata.get("deletionTimestamp"):
            return Problem(
                "ChildTerminating", f"{name} is being deleted; it is made again then", False
            )
        return None
    owners = metadata.get("ownerReferences", [])
    if any(owner["kind"] == KIND and owner["name"] == metadata["name"] for owner in owners):
        return Problem(
            "ChildTerminating",
            f"{name} belongs to a deleted {KIND} of the same name; waiting until it is gone",
            stalled=False,
        )
    return Problem(
        "ObjectConflict",
        f"{name} exists and does not belong to this {KIND}; delete it, or give this object"
        " another name",
        stalled=True,
    )
