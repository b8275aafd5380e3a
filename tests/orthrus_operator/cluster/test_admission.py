"""A real API server whose admission changes what the operator asks for."""

from pathlib import Path

import pytest

from e2e.cluster.layout import Layout
from tests.orthrus_operator.cluster.mutating_webhook import mutating_webhook
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

IMAGE = "/spec/template/spec/containers/0/image"
LIFECYCLE = "/spec/template/spec/containers/0/lifecycle"


@pytest.fixture
def host_address() -> str:
    """Of this machine, as the local cluster's API server sees it."""
    return Layout.of().control_plane.gateway


def await_quiet(subject: Subject, operator: Operator) -> None:
    """Forty further requests without a write are many resyncs."""
    reads, writes = len(operator.proxy.requests), len(operator.proxy.writes())
    subject.wait("resyncs", lambda: len(operator.proxy.requests) > reads + 40, bool)
    assert operator.proxy.writes()[writes:] == []


def test_a_mirrors_image_is_told_and_left(
    subject: Subject, operator: Operator, host_address: str, tmp_path: Path
) -> None:
    mirror = [{"op": "replace", "path": IMAGE, "value": "mirror.invalid/serving:1"}]
    with mutating_webhook(subject.kubectl, host_address, tmp_path, mirror) as seen:
        subject.wait("the webhook", lambda: asked(subject, seen), bool)
        (pod,) = subject.wait_for_pods(1)
        assert pod["spec"]["containers"][0]["image"] == "mirror.invalid/serving:1"
        subject.make_ready(pod)
        subject.wait_for_condition("Ready", "True ReplicasReady")
        assert subject.conditions()["Stalled"] == "False NotStalled"
        field = "spec.template.spec.containers[0].image"
        told = f"{field} mirror.invalid/serving:1, not registry.invalid/serving-gpu:1"
        assert told in subject.message()
        await_quiet(subject, operator)
        subject.kubectl("scale", "deployment", subject.name, "--replicas=3")
        subject.wait_for_pods(1)


def test_a_field_that_admission_removes_is_told_and_not_sent_time_and_again(
    subject: Subject, operator: Operator, host_address: str, tmp_path: Path
) -> None:
    with mutating_webhook(
        subject.kubectl, host_address, tmp_path, [{"op": "remove", "path": LIFECYCLE}]
    ) as seen:
        subject.wait("the webhook", lambda: asked(subject, seen), bool)
        subject.wait_for_condition("Stalled", "True FieldDropped")
        assert "spec.template.spec.containers[0].lifecycle of Deployment" in subject.message()
        subject.wait_for_pods(1)
        subject.wait("status", subject.status, lambda now: now.get("replicas") == 1)
        await_quiet(subject, operator)


def asked(subject: Subject, seen: list[str]) -> bool:
    """Whether the API server asks the webhook by now: it hears of it a moment after the write."""
    if subject.name in seen:
        return True
    subject.delete()
    subject.wait("no Deployment", lambda: subject.child("deployment"), lambda found: not found)
    subject.apply()
    subject.wait("Deployment", lambda: subject.child("deployment"), bool)
    return subject.name in seen
