"""One apply against a real API server: what it refuses, drops, and whom it protects."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.service_account import service_account
from orthrus_operator.reconciler.apply import Applier
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.paths import object_path

pytestmark = pytest.mark.cluster


@pytest.fixture
def orthrus(kubectl: Kubectl) -> Iterator[OrthrusDeployment]:
    """A stored object that no operator looks at: it is paused."""
    name = f"apply-{uuid.uuid4().hex[:8]}"
    spec = {"model": {"source": "hf://org/model"}, "paused": True}
    kubectl.apply(
        {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
    )
    stored = kubectl.get("orth", name)
    assert stored
    yield OrthrusDeployment.from_object(stored)
    kubectl("delete", "orth", name)


def template_spec(desired: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = desired["spec"]["template"]["spec"]
    return found


async def test_a_field_that_does_not_exist_is_the_users_error_though_it_comes_as_a_500(
    api: Api, orthrus: OrthrusDeployment
) -> None:
    desired = deployment(orthrus, "image:1")
    template_spec(desired)["nodeSelektor"] = {"gpu": "a100"}
    stored, problem, *_ = await Applier(api).apply(desired, None, orthrus.metadata.uid)
    assert stored is None
    assert problem
    assert (problem.reason, problem.stalled) == ("ObjectRefused", True)
    assert "nodeSelektor" in problem.message


async def test_a_field_that_the_cluster_drops_is_named(
    api: Api, orthrus: OrthrusDeployment
) -> None:
    """With the feature gate ImageVolume off, the API server forgets such a volume silently: pods
    without it are not even tried."""
    desired = deployment(orthrus, "image:1")
    template_spec(desired)["volumes"].append({"name": "model", "image": {"reference": "m:1"}})
    stored, problem, *_ = await Applier(api).apply(desired, None, orthrus.metadata.uid)
    if stored:
        pytest.skip("this cluster keeps image volumes")
    assert await api.get(object_path(desired)) is None
    assert problem
    assert (problem.reason, problem.stalled) == ("FieldDropped", True)
    assert "spec.template.spec.volumes" in problem.message


async def test_a_stranger_that_takes_the_name_between_reading_and_applying_is_not_adopted(
    api: Api, orthrus: OrthrusDeployment, kubectl: Kubectl
) -> None:
    desired = service_account(orthrus)
    applier = Applier(api)
    live, problem, *_ = await applier.apply(desired, None, orthrus.metadata.uid)
    assert live
    assert problem is None
    kubectl("delete", "serviceaccount", orthrus.metadata.name)
    kubectl("create", "serviceaccount", orthrus.metadata.name)
    changed = {**desired, "automountServiceAccountToken": True}
    _, problem, retry, *_ = await applier.apply(changed, live, orthrus.metadata.uid)
    assert retry
    assert problem is None or problem.reason == "ObjectRefused"
    stranger = await api.get(object_path(desired))
    assert stranger
    assert "automountServiceAccountToken" not in stranger
    assert "ownerReferences" not in stranger["metadata"]


async def test_fields_that_are_no_longer_wanted_are_removed(
    api: Api, orthrus: OrthrusDeployment
) -> None:
    desired = deployment(orthrus, "image:1")
    template_spec(desired)["nodeSelector"] = {"gpu": "a100"}
    applier = Applier(api)
    live, *_ = await applier.apply(desired, None, orthrus.metadata.uid)
    assert live
    assert template_spec(live)["nodeSelector"] == {"gpu": "a100"}
    live, *_ = await applier.apply(deployment(orthrus, "image:1"), live, orthrus.metadata.uid)
    assert live
    assert "nodeSelector" not in template_spec(live)


async def test_quantities_that_the_api_server_rewrites_are_neither_drift_nor_dropped(
    api: Api, orthrus: OrthrusDeployment
) -> None:
    desired = deployment(orthrus, "image:1")
    container = template_spec(desired)["containers"][0]
    container["resources"]["limits"] |= {"memory": "16384Ki", "cpu": "1000m"}
    desired["spec"]["replicas"] = 0
    first, problem, *_ = await Applier(api).apply(desired, None, orthrus.metadata.uid)
    assert problem is None
    again, problem, *_ = await Applier(api).apply(desired, first, orthrus.metadata.uid)
    assert problem is None
    assert first
    assert again
    assert first["metadata"]["generation"] == again["metadata"]["generation"]
