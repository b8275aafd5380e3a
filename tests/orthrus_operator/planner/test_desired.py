"""What exists for an OrthrusDeployment, and to whom it belongs."""

from typing import Any

import pytest

from orthrus_operator.builders.deployment import deployment
from orthrus_operator.planner.desired import Installation, desired, desired_objects
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.serving_image import ServingImages, running_image, serving_image
from tests.orthrus_operator.making import demo

IMAGES = ServingImages(gpu="image:1")


def test_the_children_and_their_owner() -> None:
    children = desired_objects(demo(), "image:1")
    assert [child["kind"] for child in children] == [
        "ServiceAccount",
        "NetworkPolicy",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
    ]
    for child in children:
        metadata = child["metadata"]
        assert (metadata["name"], metadata["namespace"]) == ("demo", "models")
        (owner,) = metadata["ownerReferences"]
        assert owner["uid"] == "u1"
        assert owner["controller"] is True
        assert "finalizers" not in metadata


def test_the_accelerator_chooses_the_image() -> None:
    images = ServingImages(gpu="gpu:1", cpu="cpu:1")
    assert serving_image(demo(accelerator={"type": "gpu"}), images) == "gpu:1"
    assert serving_image(demo(accelerator={"type": "cpu"}), images) == "cpu:1"


def test_an_accelerator_without_an_image_stalls_and_says_what_to_set() -> None:
    problem = serving_image(demo(), ServingImages(cpu="cpu:1"))
    assert isinstance(problem, Problem)
    assert (problem.reason, problem.stalled) == ("NoServingImage", True)
    assert "servingImages.gpu" in problem.message
    assert "spec.image" in problem.message


def test_an_image_of_its_own_needs_none_of_the_operator() -> None:
    own = demo(image={"repository": "own/serving", "tag": "2"})
    assert serving_image(own, ServingImages()) == "own/serving:2"


def test_without_any_image_everything_but_the_deployment_exists() -> None:
    kinds = [child["kind"] for child in desired_objects(demo(), None)]
    assert kinds == ["ServiceAccount", "NetworkPolicy", "Service", "PodDisruptionBudget"]


@pytest.mark.parametrize(
    ("before", "now", "image"),
    [
        ({}, {}, "image:1"),
        ({}, {"replicas": 5, "drainSeconds": 1}, "image:1"),
        ({"accelerator": {"type": "cpu"}}, {"accelerator": {"type": "cpu"}}, "image:1"),
        ({}, {"accelerator": {"type": "cpu"}}, None),
        ({"accelerator": {"type": "cpu"}}, {}, None),
        ({}, {"accelerator": {"resourceName": "amd.com/gpu"}}, None),
    ],
    ids=["same", "scaled", "cpu", "gpu to cpu", "cpu to gpu", "another maker"],
)
def test_the_image_that_runs_serves_on_the_same_accelerator_only(
    before: dict[str, Any], now: dict[str, Any], image: str | None
) -> None:
    assert running_image(demo(**now), deployment(demo(**before), "image:1")) == image


def test_where_nothing_runs_there_is_no_running_image() -> None:
    assert running_image(demo(), None) is None


def test_without_an_image_to_hand_out_what_runs_goes_on() -> None:
    live = deployment(demo(), "image:1")
    found = desired(demo(replicas=3), Installation(), live)
    assert found.problem
    assert found.problem.reason == "NoServingImage"
    (kept,) = [child for child in found.objects if child["kind"] == "Deployment"]
    assert kept["spec"]["replicas"] == 3
    assert kept["spec"]["template"] == live["spec"]["template"]


def test_a_folder_of_the_node_that_is_not_allowed_keeps_the_deployment_as_it_is() -> None:
    installation = Installation(ServingImages(gpu="image:1"), host_paths=("/mnt/models",))
    found = desired(demo("host:///etc"), installation, None)
    assert found.problem
    assert (found.problem.reason, found.problem.stalled) == ("HostPathNotAllowed", True)
    assert "Deployment" not in [child["kind"] for child in found.objects]
    assert "Service" in [child["kind"] for child in found.objects]
    allowed = desired(demo("host:///mnt/models"), installation, None)
    assert allowed.problem is None
    assert "Deployment" in [child["kind"] for child in allowed.objects]


def test_optional_children_are_there_when_they_are_asked_for() -> None:
    asked = demo(monitoring={"podMonitor": True}, networkPolicy={"enabled": False})
    kinds = [child["kind"] for child in desired_objects(asked, "image:1")]
    assert "PodMonitor" in kinds
    assert "NetworkPolicy" not in kinds


def template(live: dict[str, Any] | None, count: int) -> dict[str, Any]:
    adapters = [{"name": f"a{n}", "source": "pvc://c/a", "task": "generate"} for n in range(count)]
    found = desired(demo(adapters=adapters or None), Installation(IMAGES), live)
    (made,) = [child for child in found.objects if child["kind"] == "Deployment"]
    kept: dict[str, Any] = made["spec"]["template"]
    return kept


def running(count: int) -> dict[str, Any]:
    return {"spec": {"template": template(None, count)}}


@pytest.mark.parametrize(("before", "after"), [(9, 8), (57, 1)])
def test_pods_keep_the_room_for_adapters_that_they_have(before: int, after: int) -> None:
    assert template(running(before), after) == running(before)["spec"]["template"]
    assert template(None, after) != running(before)["spec"]["template"]


def test_more_room_is_made_and_what_the_last_adapter_leaves_is_given_up() -> None:
    assert template(running(9), 25) == template(None, 25)
    assert template(running(9), 0) == template(None, 0)


def test_room_that_nobody_gives_is_none() -> None:
    strange = running(9)
    arguments = strange["spec"]["template"]["spec"]["containers"][0]["args"]
    index = arguments.index("--max-cpu-loras=32")
    for value in ("99999", "many", "-1"):
        arguments[index] = f"--max-cpu-loras={value}"
        assert template(strange, 9) == template(None, 9)
