"""Requests of the operator as the API server logs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.operator_benchmarks.audit_log import AuditLog, Request

DEPLOYMENTS = "/apis/apps/v1/namespaces/bench/deployments"
ALL_PODS = "/api/v1/namespaces/bench/pods?labelSelector=serving.orthrus.io%2Fdeployment&limit=250"


def event(verb: str, uri: str, resource: str, subresource: str = "") -> dict[str, Any]:
    about = {"resource": resource, "namespace": "bench", "apiVersion": "v1"}
    return {
        "kind": "Event",
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": uri,
        "objectRef": about | ({"subresource": subresource} if subresource else {}),
    }


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path, "bench")


def add(log: AuditLog, *events: dict[str, Any], end: str = "\n") -> None:
    path = Path(str(log.flags["audit-log-path"]))
    with path.open("a") as file:
        file.write("\n".join(json.dumps(each) for each in events) + end)


def test_only_what_came_since_is_told(log: AuditLog) -> None:
    start = log.position()
    assert start == 0
    add(log, event("list", f"{DEPLOYMENTS}?labelSelector=a", "deployments"))
    position = log.position()
    add(log, event("patch", f"{DEPLOYMENTS}/model-0", "deployments"))
    assert log.since(start) == [
        Request("list", "deployments", is_poll=False),
        Request("patch", "deployments", is_poll=False),
    ]
    assert log.since(position) == [Request("patch", "deployments", is_poll=False)]


def test_a_line_that_is_still_being_written_is_left_for_later(log: AuditLog) -> None:
    add(log, event("get", DEPLOYMENTS, "deployments"))
    add(log, event("get", DEPLOYMENTS, "deployments"), end="")
    assert len(log.since(0)) == 1


@pytest.mark.parametrize(
    ("verb", "resource", "is_write"),
    [
        ("patch", "orthrusdeployments/status", True),
        ("create", "events", True),
        ("delete", "services", True),
        ("update", "leases", False),
        ("get", "leases", False),
        ("list", "pods", False),
        ("watch", "pods", False),
    ],
)
def test_what_a_write_is(log: AuditLog, verb: str, resource: str, is_write: bool) -> None:
    name, _, subresource = resource.partition("/")
    add(log, event(verb, "/apis/x", name, subresource))
    [found] = log.since(0)
    assert (found.resource, found.is_write) == (resource, is_write)


def test_the_look_at_everything_is_told_from_looks_at_one_object(log: AuditLog) -> None:
    one = "/api/v1/namespaces/bench/pods?labelSelector=serving.orthrus.io%2Fdeployment%3Dmodel-0"
    add(log, *(event("list", uri, "pods") for uri in (ALL_PODS, one)))
    assert [each.is_poll for each in log.since(0)] == [True, False]


def test_the_policy_logs_one_namespaces_accounts_and_nobody_else(log: AuditLog) -> None:
    policy = json.loads(Path(str(log.flags["audit-policy-file"])).read_text())
    first, last = policy["rules"]
    assert first["userGroups"] == ["system:serviceaccounts:bench"]
    assert last == {"level": "None"}
