"""What exists for an OrthrusDeployment, and to whom it belongs."""

from orthrus_operator.planner.desired import ServingImages, desired_objects
from tests.orthrus_operator.making import demo

IMAGES = ServingImages(gpu="gpu:1", cpu="cpu:1")


def test_the_children_and_their_owner() -> None:
    children = desired_objects(demo(), IMAGES)
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
    def image(accelerator: dict[str, str]) -> str:
        deployment = desired_objects(demo(accelerator=accelerator), IMAGES)[1]
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        return str(container["image"])

    assert image({"type": "gpu"}) == "gpu:1"
    assert image({"type": "cpu"}) == "cpu:1"
