"""What is to be done about children, from what was observed."""

from typing import Any

import pytest

from orthrus_operator.builders.adapters import adapters_config_map
from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.network_policy import network_policy
from orthrus_operator.planner.desired import Installation
from orthrus_operator.planner.serving_image import ServingImages
from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.reconciler.plan import Observed, Plan, plan, removable
from tests.orthrus_operator.making import demo

INSTALLATION = Installation(ServingImages(gpu="image:1"))


def made(unreadable: dict[str, ApiError], **spec: Any) -> Plan:
    return plan(demo(**spec), INSTALLATION, Observed({}, (), unreadable))


E5 = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
DEPLOYMENT = "/apis/apps/v1/namespaces/models/deployments/demo"


def kinds(found: Plan) -> list[str]:
    return [child["kind"] for child in found.wanted]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("PodMonitor", {"monitoring": {"podMonitor": True}}),
        ("HorizontalPodAutoscaler", {"autoscaling": {"maxReplicas": 2}}),
    ],
)
def test_a_child_of_a_kind_that_could_not_be_read_is_left_alone_this_time(
    kind: str, spec: dict[str, Any]
) -> None:
    assert kind in kinds(made({}, **spec))
    found = made({kind: ApiError(503, "", "down")}, **spec)
    assert kind not in kinds(found)
    assert "Deployment" in kinds(found)
    [(child, error)] = found.unread
    assert (child["kind"], error.status) == (kind, 503)
    assert found.problems == ()
    assert found.unmade == ()


def test_a_kind_that_the_cluster_does_not_know_is_no_fault() -> None:
    found = made({"PodMonitor": ApiError(404, "", "")}, monitoring={"podMonitor": True})
    assert found.unmade == ("PodMonitor",)
    assert found.unread == ()


def test_nobody_asks_for_a_kind_that_the_spec_does_not() -> None:
    found = made({"PodMonitor": ApiError(403, "", "no right")})
    assert found.unread == ()
    assert found.unmade == ()


def test_what_pods_name_comes_before_them() -> None:
    found = made({}, adapters=[E5], monitoring={"podMonitor": True})
    assert found.needs == {
        DEPLOYMENT: {
            "/api/v1/namespaces/models/serviceaccounts/demo",
            "/api/v1/namespaces/models/configmaps/demo",
        }
    }
    order = kinds(found)
    assert max(order.index(kind) for kind in ("ServiceAccount", "ConfigMap")) < order.index(
        "Deployment"
    )


def rolling(replicas: int, updated: int, observed: int = 2) -> KubernetesObject:
    """A Deployment that wants two replicas, and how far it is."""
    counts = {"observedGeneration": observed, "replicas": replicas, "updatedReplicas": updated}
    made = deployment(demo(replicas=2), "image:1")
    return {**made, "metadata": {**made["metadata"], "generation": 2}, "status": counts}


def removed(own: KubernetesObject | None, in_line: frozenset[str]) -> list[str]:
    """Kinds that go when neither adapters nor a NetworkPolicy are wanted any more."""
    before = demo(adapters=[E5])
    live = {child["kind"]: child for child in (adapters_config_map(before), network_policy(before))}
    todo = plan(demo(networkPolicy={"enabled": False}), INSTALLATION, Observed(live, (), {}))
    assert len(todo.unwanted) == 2
    return [child["kind"] for child in removable(todo, own, in_line)]


@pytest.mark.parametrize(
    ("own", "in_line", "kinds_removed"),
    [
        (rolling(2, 2), {DEPLOYMENT}, ["ConfigMap", "NetworkPolicy"]),
        (rolling(2, 2, observed=1), {DEPLOYMENT}, ["NetworkPolicy"]),
        (rolling(2, 1), {DEPLOYMENT}, ["NetworkPolicy"]),
        (rolling(1, 1), {DEPLOYMENT}, ["NetworkPolicy"]),
        (rolling(2, 2), {}, ["NetworkPolicy"]),
        (None, {}, ["ConfigMap", "NetworkPolicy"]),
    ],
    ids=["over", "not seen", "on its way", "one is missing", "not applied", "no Deployment"],
)
def test_what_pods_of_an_earlier_template_mount_goes_when_none_is_made_again(
    own: KubernetesObject | None, in_line: set[str], kinds_removed: list[str]
) -> None:
    assert removed(own, frozenset(in_line)) == kinds_removed
