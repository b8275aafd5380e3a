"""What is to be done about children, from what was observed."""

from typing import Any

import pytest

from orthrus_operator.planner.desired import Installation
from orthrus_operator.planner.serving_image import ServingImages
from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.reconciler.plan import Observed, Plan, plan
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
