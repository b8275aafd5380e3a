"""What a refused call means, and from when on it is shown."""

import pytest

from orthrus_operator.planner.problem import Problem
from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.reconciler.faults import Faults
from orthrus_operator.reconciler.paths import object_path

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"namespace": "models", "name": "demo"},
}
WEBHOOK = 'admission webhook "policy.example.com" denied the request: no team label'
POLICY = "ValidatingAdmissionPolicy 'teams' with binding 'all' denied request: no team label"
RBAC = 'services "demo" is forbidden: User "operator" cannot patch resource "services"'


def problem(faults: Faults, status: int, message: str = "m") -> Problem | None:
    return faults.problem(SERVICE, ApiError(status, "", message))


@pytest.mark.parametrize(
    ("status", "message", "reason", "stalled"),
    [
        (400, "bad", "ObjectRefused", True),
        (422, "spec.ports: Required value", "ObjectRefused", True),
        (500, ".spec.x: field not declared in schema", "ObjectRefused", True),
        (403, WEBHOOK, "ObjectRefused", True),
        (403, POLICY, "ObjectRefused", True),
        (403, RBAC, "Forbidden", False),
        (403, "exceeded quota: services", "QuotaExceeded", False),
        (500, "etcd is slow", "ApplyFailed", False),
    ],
)
def test_a_refusal_is_shown_at_once_with_its_cause(
    status: int, message: str, reason: str, stalled: bool
) -> None:
    found = problem(Faults(), status, message)
    assert found
    assert (found.reason, found.stalled) == (reason, stalled)
    assert "Service demo" in found.message
    assert message in found.message


@pytest.mark.parametrize("status", [404, 409, 429, 503, 504])
def test_a_fault_that_may_pass_is_shown_when_it_came_three_times_in_a_row(status: int) -> None:
    faults = Faults()
    shown = [problem(faults, status) for _ in range(4)]
    assert [each.reason if each else None for each in shown] == [
        *(None, None),
        *("ApplyFailed", "ApplyFailed"),
    ]


def test_what_passed_in_between_is_not_in_a_row() -> None:
    faults = Faults()
    for _ in range(2):
        assert problem(faults, 503) is None
    faults.passed(object_path(SERVICE))
    assert problem(faults, 503) is None
    assert problem(faults, 403)
    assert problem(faults, 503) is None


def test_faults_of_another_child_do_not_count() -> None:
    faults = Faults()
    other = {**SERVICE, "metadata": {"namespace": "models", "name": "other"}}
    for _ in range(2):
        faults.problem(other, ApiError(503, "", "m"))
    assert problem(faults, 503) is None
