"""Children follow the object: real API server, Deployment controller, garbage collector."""

import json
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import CHILDREN, Subject

pytestmark = pytest.mark.cluster


def test_an_object_gets_its_children_and_nothing_of_its_own_changed(demo: Subject) -> None:
    uid = demo.stored()["metadata"]["uid"]
    for child in demo.wait_for_children():
        assert [owner["uid"] for owner in child["metadata"]["ownerReferences"]] == [uid]
    demo.wait("status", demo.status, lambda status: status.get("replicas") == 1)
    metadata = demo.stored()["metadata"]
    assert "finalizers" not in metadata
    assert set(metadata["annotations"]) == {"kubectl.kubernetes.io/last-applied-configuration"}
    assert metadata["generation"] == 1


@pytest.mark.parametrize("kind", CHILDREN)
def test_a_child_that_was_deleted_comes_back(demo: Subject, kind: str) -> None:
    uid = demo.child(kind)["metadata"]["uid"]
    demo.kubectl("delete", kind, demo.name, "--wait=false")
    demo.wait(
        f"new {kind}",
        lambda: demo.child(kind).get("metadata", {}).get("uid"),
        lambda seen: seen and seen != uid,
    )


def test_a_child_that_was_changed_by_hand_is_put_back(demo: Subject) -> None:
    demo.kubectl("scale", "deployment", demo.name, "--replicas=5")
    demo.wait(
        "replicas", lambda: demo.child("deployment")["spec"]["replicas"], lambda seen: seen == 1
    )


@pytest.mark.parametrize("kind", CHILDREN)
def test_a_label_that_was_removed_by_hand_comes_back(demo: Subject, kind: str) -> None:
    """Without it the object is in none of our lists, and its generation does not tell."""
    demo.kubectl("label", kind, demo.name, f"{DEPLOYMENT_LABEL}-")
    demo.wait(
        "label",
        lambda: demo.child(kind)["metadata"]["labels"],
        lambda seen: seen.get(DEPLOYMENT_LABEL) == demo.name,
    )


def test_the_scale_subresource_sets_the_replicas(demo: Subject) -> None:
    demo.kubectl("scale", "orth", demo.name, "--replicas=3")
    demo.wait_for_pods(3)
    demo.wait("replicas", demo.status, lambda status: status["replicas"] == 3)
    scale = json.loads(demo.kubectl("get", "orth", demo.name, "--subresource=scale", "-o", "json"))
    assert scale["status"] == {"replicas": 3, "selector": f"{DEPLOYMENT_LABEL}={demo.name}"}
    demo.kubectl("scale", "orth", demo.name, "--replicas=0")
    demo.wait_for_condition("Ready", "True ScaledToZero")


def test_a_change_of_the_spec_reaches_the_pods(demo: Subject) -> None:
    demo.apply(scheduling={"maxBatchedTokens": 512}, drainSeconds=5)
    template = demo.wait(
        "template",
        lambda: demo.child("deployment")["spec"]["template"]["spec"],
        lambda pod: pod["terminationGracePeriodSeconds"] == 45,
    )
    assert "--max-num-batched-tokens=512" in template["containers"][0]["args"]


def test_a_rollout_can_become_recreate_and_rolling_again(demo: Subject) -> None:
    def strategy() -> dict[str, Any]:
        found: dict[str, Any] = demo.child("deployment")["spec"]["strategy"]
        return found

    demo.apply(rollout={"strategy": "Recreate"})
    demo.wait("strategy", strategy, lambda seen: seen == {"type": "Recreate"})
    demo.apply(rollout={"maxSurge": 1, "maxUnavailable": 0})
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    demo.wait("strategy", strategy, lambda seen: seen.get("rollingUpdate") == rolling)


def test_deleting_it_deletes_every_child_and_applying_it_again_works(demo: Subject) -> None:
    before = {child["metadata"]["uid"] for child in demo.wait_for_children()}
    demo.delete()
    demo.apply()
    demo.wait(
        "new children",
        lambda: {demo.child(kind).get("metadata", {}).get("uid") for kind in CHILDREN},
        lambda seen: None not in seen and not seen & before,
    )
    demo.wait("no problem", demo.conditions, lambda seen: seen["Stalled"] == "False NotStalled")
    demo.delete()
    demo.wait(
        "no children", lambda: [demo.child(kind) for kind in CHILDREN], lambda seen: not any(seen)
    )
    demo.wait_for_pods(0)


def test_what_nothing_wants_any_more_is_deleted_and_only_if_it_is_ours(demo: Subject) -> None:
    def stray(name: str, owner: str) -> dict[str, Any]:
        reference = {"apiVersion": API_VERSION, "kind": KIND, "name": demo.name, "uid": owner}
        metadata = {"name": name, "labels": {DEPLOYMENT_LABEL: demo.name}}
        return {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata | ({"ownerReferences": [reference]} if owner else {}),
        }

    ours, labelled = f"{demo.name}-old", f"{demo.name}-other"
    demo.kubectl.apply(stray(labelled, ""), stray(ours, demo.stored()["metadata"]["uid"]))
    demo.wait("pruning", lambda: demo.kubectl.get("serviceaccount", ours), lambda seen: not seen)
    assert demo.kubectl.get("serviceaccount", labelled)


def test_paused_holds_changes_back_and_says_so(demo: Subject) -> None:
    demo.apply(paused=True, service={"port": 8080}, replicas=2)
    demo.wait_for_condition("Ready", "False Paused")
    assert f"Service {demo.name}" in demo.message()
    assert demo.child("service")["spec"]["ports"][0]["port"] == 80
    assert demo.child("deployment")["spec"]["replicas"] == 1
    demo.apply(paused=False, service={"port": 8080}, replicas=2)
    demo.wait(
        "port", lambda: demo.child("service")["spec"]["ports"][0]["port"], lambda seen: seen == 8080
    )
    demo.wait_for_pods(2)


def expect_no_write_in_resyncs(subject: Subject, operator: Operator) -> None:
    """Not even a trial: what one said of these versions is remembered."""
    reads, writes = len(operator.proxy.requests), len(operator.proxy.writes())
    subject.wait("resyncs", lambda: len(operator.proxy.requests) > reads + 40, bool)
    assert operator.proxy.writes()[writes:] == []


def test_paused_holds_removals_back_too_and_asks_nothing_again(
    subject: Subject, operator: Operator
) -> None:
    subject.apply(resources={"requests": {"cpu": "1"}})
    subject.wait_for_children()
    subject.apply(paused=True, networkPolicy={"enabled": False})
    subject.wait("status", subject.status, lambda seen: seen.get("observedGeneration") == 2)
    subject.wait_for_condition("Ready", "False Paused")
    assert f"Deployment {subject.name}" in subject.message()
    assert f"NetworkPolicy {subject.name}" in subject.message()
    assert subject.child("networkpolicy")
    expect_no_write_in_resyncs(subject, operator)
    subject.apply(resources={"requests": {"cpu": "1"}}, paused=True)
    subject.wait("status", subject.status, lambda seen: seen.get("observedGeneration") == 3)
    subject.wait("message", subject.message, lambda seen: "Deployment" not in seen)
    expect_no_write_in_resyncs(subject, operator)
    subject.apply(networkPolicy={"enabled": False})
    subject.wait("removal", lambda: subject.child("networkpolicy"), lambda found: not found)


def test_objects_of_other_namespaces_are_not_served(subject: Subject, kubectl: Kubectl) -> None:
    elsewhere = Kubectl(kubectl.program, kubectl.kubeconfig, f"{kubectl.namespace}-else")
    elsewhere("create", "namespace", elsewhere.namespace)
    stranger = Subject(elsewhere, subject.name)
    stranger.apply()
    subject.apply()
    subject.wait_for_children()
    # The schema's default, which says that no operator has seen the object.
    assert stranger.status() == {"observedGeneration": -1}
    elsewhere("delete", "namespace", elsewhere.namespace, "--wait=false")
