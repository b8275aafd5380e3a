"""What a person reads on the object, whatever happens to its pods.

No kubelet runs these pods: the tests write their status.
"""

import pytest

from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster


def test_columns_of_kubectl_get(demo: Subject) -> None:
    demo.wait("status", demo.status, lambda status: status.get("replicas") == 1)
    header, row = demo.kubectl("get", "orth", demo.name).splitlines()
    assert header.split() == ["NAME", "MODEL", "READY", "ADAPTERS", "POLICY", "AVAILABLE", "AGE"]
    assert row.split()[1:5] == ["hf://org/model", "0/1", "ibs", "False"]
    wide = demo.kubectl("get", "orth", demo.name, "-o", "wide")
    assert f"http://{demo.name}.{demo.kubectl.namespace}.svc" in wide


def test_ready_replicas_make_it_available_then_ready(subject: Subject) -> None:
    subject.apply(replicas=2)
    first, second = subject.wait_for_pods(2)
    subject.make_ready(first)
    subject.wait_for_condition("Available", "True ReplicasReady")
    assert subject.conditions()["Ready"].startswith("False")
    assert subject.status()["ready"] == "1/2"
    subject.make_ready(second)
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert subject.conditions()["Reconciling"] == "False Reconciled"
    assert subject.status()["ready"] == "2/2"


def test_a_model_that_does_not_exist_is_a_condition_with_the_reason(demo: Subject) -> None:
    (pod,) = demo.wait_for_pods(1)
    ended = {
        "exitCode": 1,
        "reason": "Error",
        "message": "ModelNotFound: hf://org/model does not exist",
    }
    status = {
        "name": "replica",
        "image": "image:1",
        "imageID": "",
        "ready": False,
        "restartCount": 2,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": ended},
    }
    # A scheduler that finds no GPU would say so first.
    scheduled = {"type": "PodScheduled", "status": "True", "reason": ""}
    demo.patch_pod_status(pod, {"conditions": [scheduled], "containerStatuses": [status]})
    demo.wait_for_condition("Stalled", "True ModelNotFound")
    assert "hf://org/model does not exist" in demo.message()


def test_a_quota_is_a_condition_with_the_reason(subject: Subject) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": subject.name}}
    subject.kubectl.apply({**quota, "spec": {"hard": {"requests.example.com/scarce": "0"}}})
    subject.wait(
        "quota",
        lambda: subject.kubectl.get("quota", subject.name),
        lambda seen: "hard" in seen["status"],
    )
    subject.apply(accelerator={"resourceName": "example.com/scarce"})
    subject.wait_for_condition("Ready", "False QuotaExceeded")
    subject.kubectl("delete", "quota", subject.name)


def test_a_pod_that_the_api_server_refuses_is_stalled_with_its_words(subject: Subject) -> None:
    subject.apply(resources={"limits": {"not a name": 1}})
    subject.wait_for_condition("Stalled", "True ObjectRefused")
    assert "not a name" in subject.message()
    subject.apply(resources={"limits": {"memory": "1Gi"}})
    subject.wait_for_condition("Stalled", "False NotStalled")
    assert subject.child("deployment")


def test_a_strangers_object_of_the_same_name_is_left_alone_and_reported(subject: Subject) -> None:
    strange = {"ports": [{"port": 5432}], "selector": {"app": "database"}}
    subject.kubectl.apply(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": subject.name}, "spec": strange}
    )
    before = subject.child("service")["metadata"]["resourceVersion"]
    subject.apply()
    subject.wait_for_condition("Stalled", "True ObjectConflict")
    assert f"Service {subject.name} exists" in subject.message()
    assert subject.child("deployment")
    assert subject.child("service")["metadata"]["resourceVersion"] == before
    subject.kubectl("delete", "service", subject.name)
    subject.wait_for_condition("Stalled", "False NotStalled")
    assert subject.child("service")["spec"]["ports"][0]["port"] == 80


def test_no_pod_runs_under_a_strangers_account(subject: Subject) -> None:
    """It might carry pull secrets, or a cloud identity, that the author of our object lacks."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": subject.name}}
    subject.kubectl.apply(account)
    subject.apply()
    subject.wait_for_condition("Stalled", "True ObjectConflict")
    assert f"ServiceAccount {subject.name} exists" in subject.message()
    subject.wait("service", lambda: subject.child("service"), bool)
    assert not subject.child("deployment")
    subject.kubectl("delete", "serviceaccount", subject.name)
    subject.wait("deployment", lambda: subject.child("deployment"), bool)


def test_no_pod_mounts_a_strangers_adapters(subject: Subject) -> None:
    """Nor is one that works replaced by one that would: it could not start."""
    subject.apply()
    (pod,) = subject.wait_for_pods(1)
    stranger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": subject.name}}
    subject.kubectl.apply(stranger)
    e5 = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
    subject.apply(adapters=[e5], service={"port": 8080})
    subject.wait_for_condition("Stalled", "True ObjectConflict")
    assert f"ConfigMap {subject.name} exists" in subject.message()
    subject.wait(
        "port",
        lambda: subject.child("service")["spec"]["ports"][0]["port"],
        lambda seen: seen == 8080,
    )
    assert [each["metadata"]["uid"] for each in subject.pods()] == [pod["metadata"]["uid"]]
    assert subject.child("deployment")["metadata"]["generation"] == 1
    subject.kubectl("delete", "configmap", subject.name)
    subject.wait(
        "rollout", lambda: subject.child("deployment")["metadata"]["generation"], lambda n: n == 2
    )
