"""What exists for an OrthrusDeployment, and to whom it belongs."""

from typing import Any

import pytest

from orthrus_operator.builders.deployment import deployment
from orthrus_operator.planner.desired import (
    ServingImages,
    desired_objects,
    running_image,
    serving_image,
)
from orthrus_operator.planner.problem import Problem
from tests.orthrus_operator.making import demo


def test_the_children_and_their_owner() -> None:
    children = desired_objects(demo(), "image:1")
    assert [child["kind"] for child in children] == [
        "ServiceAccount",
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
    assert kinds == ["ServiceAccount", "Service", "PodDisruptionBudget"]


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
