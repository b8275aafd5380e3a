"""What exists for an OrthrusDeployment, and to whom it belongs."""

from orthrus_operator.planner.desired import ServingImages, desired_objects, serving_image
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
