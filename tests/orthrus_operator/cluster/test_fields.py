"""Fields whose effect only a real API server shows."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from e2e.kubectl import Kubectl, KubectlError
from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.cluster.stand_in_crd import stand_in
from tests.orthrus_operator.cluster.subject import Subject
from tests.orthrus_operator.making import demo as demo_object

pytestmark = pytest.mark.cluster

POD_MONITORS = "podmonitors.monitoring.coreos.com"


def template(subject: Subject) -> dict[str, Any]:
    found: dict[str, Any] = subject.child("deployment")["spec"]["template"]["spec"]
    return found


def test_an_image_that_the_cluster_cannot_mount_replaces_nothing(demo: Subject) -> None:
    """Debian's containerd, and an API server without the feature: it drops the volume silently."""
    before = template(demo)
    demo.apply(model={"source": "oci://registry.example/models/m:1"})
    demo.wait("status", demo.status, lambda seen: seen["observedGeneration"] == 2)
    if demo.conditions()["Stalled"] == "False NotStalled":
        pytest.skip("this cluster keeps image volumes")
    demo.wait_for_condition("Stalled", "True FieldDropped")
    assert "ImageVolume" in demo.message()
    assert template(demo) == before
    demo.apply()
    demo.wait_for_condition("Stalled", "False NotStalled")


def test_a_folder_of_the_node_needs_leave(demo: Subject) -> None:
    before = template(demo)
    demo.apply(model={"source": "host:///etc/kubernetes"})
    demo.wait_for_condition("Stalled", "True HostPathNotAllowed")
    assert "/etc/kubernetes" in demo.message()
    assert template(demo) == before


def test_the_network_policy_comes_and_goes(demo: Subject) -> None:
    policy = demo.child("networkpolicy")
    assert policy["spec"]["ingress"] == [{"ports": [{"port": "http", "protocol": "TCP"}]}]
    demo.apply(networkPolicy={"enabled": False})
    demo.wait("no policy", lambda: demo.child("networkpolicy"), lambda seen: not seen)
    demo.apply(networkPolicy={"enabled": True})
    demo.wait("policy", lambda: demo.child("networkpolicy"), bool)


def test_what_a_user_adds_to_the_pods_is_merged(demo: Subject) -> None:
    secret = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    demo.apply(
        auth={"apiKeySecretRef": {"name": "keys", "key": "all"}},
        podTemplate={
            "spec": {
                "nodeSelector": {"gpu": "a100"},
                "tolerations": [{"key": "dedicated", "operator": "Exists"}],
                "volumes": [{"name": "ca", "configMap": {"name": "ca"}}],
                "containers": [{"name": "replica", "env": [secret]}],
            }
        },
    )
    pod = demo.wait("template", lambda: template(demo), lambda pod: pod.get("nodeSelector"))
    assert pod["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    (container,) = pod["containers"]
    assert container["env"][-1] == secret
    assert "--api-key-file=/etc/orthrus/api-keys/keys" in container["args"]
    assert {"ca", "api-keys", "cache"} <= {volume["name"] for volume in pod["volumes"]}
    demo.wait("no problem", demo.conditions, lambda seen: seen["Stalled"] == "False NotStalled")
    demo.apply()
    demo.wait("template", lambda: template(demo), lambda pod: "nodeSelector" not in pod)


def test_a_mistake_in_what_the_crd_does_not_know_is_told_by_the_api_server(demo: Subject) -> None:
    affinity: dict[str, Any] = {"nodeAffinity": {"requiredDuringScheduling": {}}}
    demo.apply(podTemplate={"spec": {"affinity": affinity}})
    demo.wait_for_condition("Stalled", "True ObjectRefused")
    assert "requiredDuringScheduling" in demo.message()


def test_a_pod_monitor_is_made_where_the_cluster_knows_the_kind(
    demo: Subject, kubectl: Kubectl
) -> None:
    """The Prometheus Operator's CRD is not installed here: one of the same name takes its place."""
    if kubectl.get("crd", POD_MONITORS):
        pytest.skip("this cluster has the Prometheus Operator")
    demo.apply(monitoring={"podMonitor": True})
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.wait_for_condition("Ready", "True ReplicasReady")
    demo.wait("note", demo.message, lambda text: "no PodMonitor was made" in text)
    kubectl.apply(stand_in("monitoring.coreos.com", "v1", "PodMonitor"))
    try:
        kubectl.wait_established(f"crd/{POD_MONITORS}")
        monitor = demo.wait("monitor", lambda: demo.child(POD_MONITORS), bool)
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert (endpoint["path"], endpoint["port"]) == ("/metrics", "http")
        demo.wait("no note", demo.message, lambda text: "PodMonitor" not in text)
        demo.apply(monitoring={"podMonitor": False})
        demo.wait("no monitor", lambda: demo.child(POD_MONITORS), lambda seen: not seen)
    finally:
        kubectl("delete", "crd", POD_MONITORS)


@pytest.fixture(scope="module")
def restricted(kubectl: Kubectl) -> Iterator[Kubectl]:
    """A namespace that enforces restricted Pod Security."""
    name = f"{kubectl.namespace}-restricted"
    inside = replace(kubectl, namespace=name)
    inside("create", "namespace", name)
    inside("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    yield inside
    inside("delete", "namespace", name, "--wait=false")


def try_pod(kubectl: Kubectl, spec: dict[str, Any]) -> None:
    """Has the API server judge the pod of a replica, and stores none."""
    orthrus = demo_object(**spec)
    pod = {**pod_template(orthrus, "image:1"), "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"]["name"] = "replica"
    # The account need not exist for the check that this is about.
    pod["spec"]["serviceAccountName"] = "default"
    kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))


def test_restricted_pod_security_admits_replicas_with_all_that_users_may_add(
    restricted: Kubectl,
) -> None:
    try_pod(
        restricted,
        {
            "model": {"source": "pvc://models/m"},
            "adapters": [{"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}],
            "auth": {"apiKeySecretRef": {"name": "keys", "key": "all"}},
            "podTemplate": {
                "spec": {
                    "volumes": [
                        {"name": "a", "configMap": {"name": "a"}},
                        {"name": "b", "secret": {"secretName": "b"}},
                        {"name": "c", "emptyDir": {}},
                        {"name": "d", "persistentVolumeClaim": {"claimName": "d"}},
                    ]
                }
            },
        },
    )


def test_restricted_pod_security_refuses_a_folder_of_the_node(restricted: Kubectl) -> None:
    with pytest.raises(KubectlError, match="hostPath"):
        try_pod(restricted, {"model": {"source": "host:///mnt/models/m"}})
