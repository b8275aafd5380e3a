"""What isn't ours is left alone, and the user is told what to do."""

from typing import Any

import pytest

from orthrus_operator.reconciler.ownership import ownership_problem


def service(*owners: dict[str, str], deleting: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "demo", "ownerReferences": list(owners)}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"kind": "Service", "metadata": metadata}


def owner(uid: str, kind: str = "OrthrusDeployment", name: str = "demo") -> dict[str, str]:
    return {"kind": kind, "name": name, "uid": uid}


def test_ours() -> None:
    assert ownership_problem(service(owner("u1")), "u1") is None


@pytest.mark.parametrize(
    ("live", "reason", "stalled"),
    [
        (service(), "ObjectConflict", True),
        (service(owner("u9", kind="Application")), "ObjectConflict", True),
        (service(owner("u9", name="other")), "ObjectConflict", True),
        (service(owner("u0")), "ChildTerminating", False),
        (service(owner("u1"), deleting=True), "ChildTerminating", False),
    ],
    ids=["nobody's", "another kind's", "a sibling's", "a predecessor's", "going"],
)
def test_not_to_be_touched(live: dict[str, Any], reason: str, stalled: bool) -> None:
    problem = ownership_problem(live, "u1")
    assert problem is not None
    assert (problem.reason, problem.stalled) == (reason, stalled)
    assert "Service demo" in problem.message
