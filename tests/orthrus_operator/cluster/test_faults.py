"""What goes wrong beside the object: each shows on it, and passes when its cause does."""

import json
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import CRD_NAME
from orthrus_operator.reconciler import client
from orthrus_operator.reconciler.client import ApiError
from tests.orthrus_operator.cluster.connection import connected
from tests.orthrus_operator.cluster.fault_proxy import Fault
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("status", [404, 409, 429, 503])
def test_one_child_that_cannot_be_applied_keeps_neither_status_nor_the_others_back(
    subject: Subject, operator: Operator, status: int
) -> None:
    with operator.proxy.fault(Fault(f"^PATCH .*/services/{subject.name}$", status)):
        subject.apply()
        # It comes after the Service in the order of applying.
        subject.wait("budget", lambda: subject.child("poddisruptionbudget"), bool)
        subject.wait("status", subject.status, lambda seen: seen.get("observedGeneration") == 1)
        subject.wait_for_condition("Ready", "False ApplyFailed")
        assert f"Service {subject.name}" in subject.message()
    subject.wait_for_children()
    subject.wait("recovery", subject.conditions, lambda seen: "ApplyFailed" not in seen["Ready"])


def test_no_pod_is_made_before_what_it_mounts(subject: Subject, operator: Operator) -> None:
    with operator.proxy.fault(Fault(f"^PATCH .*/configmaps/{subject.name}$", 503)):
        subject.apply(adapters=[{"name": "a", "source": "pvc://c/a", "task": "generate"}])
        subject.wait_for_condition("Ready", "False ApplyFailed")
        assert f"ConfigMap {subject.name}" in subject.message()
        assert subject.child("poddisruptionbudget")
        assert not subject.child("deployment")
    subject.wait("deployment", lambda: subject.child("deployment"), bool)


def test_one_failure_that_passes_is_not_shown(subject: Subject, operator: Operator) -> None:
    path = f"/services/{subject.name}$"
    with operator.proxy.fault(Fault(f"^PATCH .*{path}", 409)):
        subject.apply()
        subject.wait(
            "an apply",
            lambda: [each for each in operator.proxy.writes() if path.rstrip("$") in each],
            bool,
        )
    subject.wait_for_children()
    reasons = {event["reason"] for event in subject.events()}
    assert "ApplyFailed" not in reasons


def test_a_missing_right_is_a_condition(demo: Subject, operator: Operator) -> None:
    demo.wait("status", demo.status, lambda seen: seen.get("replicas") == 1)
    with operator.proxy.fault(Fault("^GET .*/poddisruptionbudgets$", 403)):
        demo.wait_for_condition("Ready", "False Forbidden")
        assert demo.status()["replicas"] == 1
    demo.wait("recovery", demo.conditions, lambda seen: "Forbidden" not in seen["Ready"])


@pytest.mark.parametrize(
    ("status", "reason"), [(403, "Forbidden"), (500, "ApplyFailed"), (503, "ApplyFailed")]
)
def test_an_optional_kind_that_cannot_be_read_keeps_nothing_else_back(
    subject: Subject, operator: Operator, status: int, reason: str
) -> None:
    with operator.proxy.fault(Fault("^GET .*/podmonitors", status)):
        subject.apply()
        subject.wait_for_children()
        subject.wait_for_condition("Stalled", "False NotStalled")
        assert reason not in subject.conditions()["Ready"]
        subject.apply(monitoring={"podMonitor": True}, service={"port": 8080})
        subject.wait_for_condition("Ready", f"False {reason}")
        assert f"PodMonitor {subject.name}" in subject.message()
        assert subject.child("service")["spec"]["ports"][0]["port"] == 8080
    subject.wait("recovery", subject.conditions, lambda seen: reason not in seen["Ready"])


@pytest.mark.parametrize("status", [403, 500])
def test_a_child_that_cannot_be_removed_is_told_and_tried_again(
    demo: Subject, operator: Operator, status: int
) -> None:
    with operator.proxy.fault(Fault(f"^DELETE .*/networkpolicies/{demo.name}$", status)):
        demo.apply(networkPolicy={"enabled": False}, service={"port": 8080})
        reason = "Forbidden" if status == 403 else "ApplyFailed"
        demo.wait_for_condition("Ready", f"False {reason}")
        assert f"NetworkPolicy {demo.name}" in demo.message()
        assert demo.status()["observedGeneration"] == 2
    demo.wait("removal", lambda: demo.child("networkpolicy"), lambda found: not found)


async def test_a_call_that_takes_too_long_is_a_fault_of_that_call(
    operator: Operator, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one behind a slow admission webhook."""
    monkeypatch.setattr(client, "_TIMEOUT_SECONDS", 0.2)
    path = f"/api/v1/namespaces/{kubectl.namespace}/configmaps/slow"
    slow = Fault("/configmaps/slow$", delay=2)
    async with connected(operator.kubeconfig) as api:
        with operator.proxy.fault(slow), pytest.raises(ApiError, match="no answer") as caught:
            await api.get(path)
    assert caught.value.status == 504


def test_an_object_of_another_crd_version_is_stalled_and_what_runs_goes_on(
    subject: Subject, kubectl: Kubectl
) -> None:
    subject.apply()
    subject.wait_for_children()
    maximum = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/drainSeconds"
    set_maximum(kubectl, f"{maximum}/maximum", 90_000)
    try:
        # The schema is served a moment after it is stored.
        subject.wait("other CRD", lambda: applies(subject, drainSeconds=80_000), bool)
    finally:
        set_maximum(kubectl, f"{maximum}/maximum", 3600)
    subject.wait_for_condition("Stalled", "True InvalidSpec")
    assert "spec.drainSeconds" in subject.message()
    assert subject.status()["selector"] == f"serving.orthrus.io/deployment={subject.name}"
    assert subject.child("deployment")
    subject.apply(drainSeconds=5)
    subject.wait_for_condition("Stalled", "False NotStalled")


def set_maximum(kubectl: Kubectl, path: str, value: int) -> None:
    patch = json.dumps([{"op": "replace", "path": path, "value": value}])
    kubectl("patch", "crd", CRD_NAME, "--type=json", "-p", patch)


def applies(subject: Subject, **spec: Any) -> bool:
    subject.kubectl(
        *("patch", "orth", subject.name, "--type=merge"),
        *("-p", json.dumps({"spec": spec})),
    )
    return True


def test_an_operator_without_images_still_scales_what_runs(
    demo: Subject, operator: Operator
) -> None:
    operator.stop()
    operator.start(ORTHRUS_SERVING_IMAGE_GPU="")
    try:
        demo.wait_for_condition("Stalled", "True NoServingImage")
        before = demo.child("deployment")["spec"]["template"]
        demo.apply(replicas=3, service={"port": 8080})
        demo.wait_for_pods(3)
        assert demo.child("deployment")["spec"]["template"] == before
        demo.wait(
            "port",
            lambda: demo.child("service")["spec"]["ports"][0]["port"],
            lambda seen: seen == 8080,
        )
        demo.apply(replicas=3, accelerator={"resourceName": "example.com/other"})
        demo.wait("status", demo.status, lambda seen: seen["observedGeneration"] == 3)
        assert demo.child("deployment")["spec"]["template"] == before
        new = Subject(demo.kubectl, f"{demo.name}-new")
        new.apply()
        new.wait("Service", lambda: new.child("service"), bool)
        assert not new.child("deployment")
        new.delete()
    finally:
        operator.stop()
        operator.start()
