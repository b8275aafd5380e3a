"""From `spec.autoscaling` to an autoscaler and back, with the real HPA controller.

No metrics API is there, and no KEDA but its kind: what they bring is tried in `e2e/`.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.kubectl import Kubectl, KubectlError
from e2e.waiting import wait_until
from tests.orthrus_operator.cluster.fault_proxy import Fault
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.stand_in_crd import stand_in
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

SCALED_OBJECTS = "scaledobjects.keda.sh"
HPA = {"maxReplicas": 4, "backlogTokensPerReplica": 8000}
KEDA = {**HPA, "backend": "keda"}


@pytest.fixture
def keda(kubectl: Kubectl) -> Iterator[None]:
    """KEDA's kind, and nothing that acts on it."""
    if kubectl.get("crd", SCALED_OBJECTS):
        pytest.skip("this cluster has KEDA")
    kubectl.apply(stand_in("keda.sh", "v1alpha1", "ScaledObject"))
    kubectl.wait_established(f"crd/{SCALED_OBJECTS}")
    yield
    kubectl("delete", "crd", SCALED_OBJECTS)


@pytest.fixture(autouse=True)
def no_metrics(kubectl: Kubectl) -> None:
    if kubectl.get("apiservice", "v1beta1.custom.metrics.k8s.io"):
        pytest.skip("this cluster has custom metrics")


def condition(subject: Subject) -> dict[str, Any]:
    """ScalingActive, empty when there is none."""
    conditions = subject.status().get("conditions", [])
    return next((each for each in conditions if each["type"] == "ScalingActive"), {})


def wait_for_hpa(subject: Subject) -> dict[str, Any]:
    found: dict[str, Any] = subject.wait("HPA", lambda: subject.child("hpa"), bool)
    return found


def test_the_hpa_scales_the_object_and_its_complaint_shows(
    demo: Subject, operator: Operator
) -> None:
    """The controller finds no metrics: within a minute the object says so, and nothing scales."""
    demo.kubectl("scale", "orth", demo.name, "--replicas=2")
    demo.wait_for_pods(2)
    writes = len(operator.proxy.writes())
    # Without replicas, which belongs to whoever scales.
    patch = json.dumps({"spec": {"autoscaling": HPA}})
    demo.kubectl("patch", "orth", demo.name, "--type=merge", "-p", patch)
    spec = wait_for_hpa(demo)["spec"]
    assert spec["scaleTargetRef"]["kind"] == "OrthrusDeployment"
    assert spec["metrics"][0]["pods"]["target"]["averageValue"] == "8k"
    seen = demo.wait("condition", lambda: condition(demo), lambda c: c.get("status") == "False")
    assert seen["reason"] == "FailedGetPodsMetric"
    assert "orthrus_backlog_tokens" in seen["message"]
    assert [event["reason"] for event in demo.events()].count("FailedGetPodsMetric") == 1
    # The quantity comes back in another form, and the status changes: neither is a reason to write.
    applied = [
        write for write in operator.proxy.writes()[writes:] if "horizontalpodautoscalers" in write
    ]
    assert len(applied) == 1
    demo.kubectl("patch", "orth", demo.name, "--type=json", "-p", remove_autoscaling())
    demo.wait("no HPA", lambda: demo.child("hpa"), lambda seen: not seen)
    demo.wait("no condition", lambda: condition(demo), lambda seen: not seen)
    assert demo.stored()["spec"]["replicas"] == 2
    ours = [write for write in operator.proxy.writes() if "/orthrusdeployments/" in write]
    assert all(write.endswith("/status") for write in ours)


def remove_autoscaling() -> str:
    return json.dumps([{"op": "remove", "path": "/spec/autoscaling"}])


def test_an_hpa_that_was_changed_by_hand_is_put_back(demo: Subject) -> None:
    demo.apply(autoscaling=HPA)
    wait_for_hpa(demo)
    patch = json.dumps({"spec": {"maxReplicas": 9}})
    demo.kubectl("patch", "hpa", demo.name, "--type=merge", "-p", patch)
    demo.wait(
        "maxReplicas", lambda: demo.child("hpa")["spec"]["maxReplicas"], lambda seen: seen == 4
    )


def test_an_hpa_that_a_user_wrote_is_let_be_and_heard(demo: Subject, operator: Operator) -> None:
    name = f"{demo.name}-by-hand"
    target = {"apiVersion": "serving.orthrus.io/v1alpha1", "kind": "OrthrusDeployment"}
    metric = {"metric": {"name": "queue_length"}, "target": {"type": "Value", "value": "5"}}
    demo.kubectl.apply(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name},
            "spec": {
                "scaleTargetRef": {**target, "name": demo.name},
                "minReplicas": 3,
                "maxReplicas": 5,
                "metrics": [{"type": "External", "external": metric}],
            },
        }
    )
    # Below its minimum, it scales without any metric.
    demo.wait_for_pods(3)
    seen = demo.wait("condition", lambda: condition(demo), lambda c: c.get("status") == "False")
    assert seen["reason"] == "FailedGetExternalMetric"
    assert f"HorizontalPodAutoscaler {name}: " in seen["message"]
    assert not any(name in write for write in operator.proxy.writes())
    demo.kubectl("delete", "hpa", name)
    demo.wait("no condition", lambda: condition(demo), lambda seen: not seen)
    assert demo.stored()["spec"]["replicas"] == 3


def test_one_that_admission_refuses_is_told_and_replicas_are_ready(
    demo: Subject, no_small_maximum: str
) -> None:
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.apply(autoscaling=HPA)
    demo.wait_for_condition("ScalingActive", "False ObjectRefused")
    assert no_small_maximum in condition(demo)["message"]
    demo.wait_for_condition("Ready", "True ReplicasReady")
    assert demo.conditions()["Stalled"] == "False NotStalled"
    demo.apply(autoscaling={**HPA, "maxReplicas": 5})
    wait_for_hpa(demo)
    demo.wait("recovery", lambda: condition(demo)["reason"], lambda seen: seen != "ObjectRefused")


@pytest.fixture
def no_small_maximum(kubectl: Kubectl) -> Iterator[str]:
    """A policy of the cluster's owner that denies HPAs with less than five replicas; its words."""
    name, words = f"{kubectl.namespace}-maximum", "ask for five replicas at least"
    group = "admissionregistration.k8s.io"
    rule = {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["horizontalpodautoscalers"],
    }
    here = {"kubernetes.io/metadata.name": kubectl.namespace}
    policy = f"validatingadmissionpolicies.{group}"
    kubectl.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "validations": [
                    {
                        "expression": "object.spec.maxReplicas >= 5",
                        "message": words,
                        "reason": "Forbidden",  # 403, as most webhooks answer
                    }
                ],
            },
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {
                "policyName": name,
                "validationActions": ["Deny"],
                "matchResources": {"namespaceSelector": {"matchLabels": here}},
            },
        },
    )
    # It is enforced a moment after it is stored.
    wait_until(f"policy {name} denies", lambda: denied(kubectl), bool, within=60, every=0.2)
    yield words
    kubectl("delete", f"validatingadmissionpolicybindings.{group}", name)
    kubectl("delete", policy, name)


def denied(kubectl: Kubectl) -> bool:
    """Whether an HPA with a maximum of one would be."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "any"}
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "too-small"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 1},
    }
    try:
        kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(hpa))
    except KubectlError as error:
        return "denied request" in str(error)
    return False


def test_hpas_that_cannot_be_read_keep_nothing_back(demo: Subject, operator: Operator) -> None:
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.apply(autoscaling=HPA)
    before = demo.wait("condition", lambda: condition(demo), lambda c: c.get("status") == "False")
    with operator.proxy.fault(Fault("^GET .*/horizontalpodautoscalers$", 503)):
        demo.apply(autoscaling=HPA, service={"port": 8080})
        demo.wait(
            "port",
            lambda: demo.child("service")["spec"]["ports"][0]["port"],
            lambda seen: seen == 8080,
        )
        demo.wait_for_condition("ScalingActive", "False ApplyFailed")
        assert demo.conditions()["Ready"] == "True ReplicasReady"
    demo.wait_for_condition("ScalingActive", f"False {before['reason']}")


def test_without_keda_the_condition_says_what_to_do_and_the_rest_goes_on(demo: Subject) -> None:
    demo.apply(autoscaling=KEDA)
    seen = demo.wait("condition", lambda: condition(demo), bool)
    assert (seen["status"], seen["reason"]) == ("False", "KindUnknown")
    assert "install KEDA" in seen["message"]
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.wait_for_condition("Ready", "True ReplicasReady")


@pytest.mark.usefixtures("keda")
def test_the_backend_can_be_switched_and_only_one_is_there(demo: Subject) -> None:
    demo.apply(autoscaling=HPA)
    wait_for_hpa(demo)
    demo.apply(autoscaling=KEDA)
    made = demo.wait("ScaledObject", lambda: demo.child(SCALED_OBJECTS), bool)
    assert not demo.child("hpa")
    assert made["spec"]["minReplicaCount"] == 1
    (trigger,) = made["spec"]["triggers"]
    assert trigger["metadata"]["serverAddress"] == "http://prometheus.invalid:9090"
    demo.wait_for_condition("ScalingActive", "Unknown AutoscalerPending")
    # As KEDA does: it undoes what it has done before its object may go.
    hold = json.dumps({"metadata": {"finalizers": ["finalizer.keda.sh/test"]}})
    demo.kubectl("patch", SCALED_OBJECTS, demo.name, "--type=merge", "-p", hold)
    demo.apply(autoscaling=HPA)
    demo.wait_for_condition("ScalingActive", "False ChildTerminating")
    assert not demo.child("hpa")
    release = json.dumps({"metadata": {"finalizers": None}})
    demo.kubectl("patch", SCALED_OBJECTS, demo.name, "--type=merge", "-p", release)
    wait_for_hpa(demo)
    assert not demo.child(SCALED_OBJECTS)
