"""Which image the replicas run, and what to do when none is known."""

from dataclasses import dataclass

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.image import image_reference
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.running_container import running_container


@dataclass(frozen=True)
class ServingImages:
    """Full references of the serving images that the operator hands out; None: it has none."""

    gpu: str | None = None
    cpu: str | None = None


def serving_image(orthrus: OrthrusDeployment, images: ServingImages) -> str | Problem:
    """The image that the replicas run, or why there is none."""
    kind = orthrus.spec.accelerator.type
    default = images.cpu if kind == "cpu" else images.gpu
    return image_reference(orthrus.spec.image, default) or Problem(
        "NoServingImage",
        f"the operator was given no serving image for accelerator type {kind}: set"
        f" servingImages.{kind} in the chart's values, or spec.image.repository and spec.image.tag",
        stalled=True,
    )


def running_image(orthrus: OrthrusDeployment, live: KubernetesObject | None) -> str | None:
    """The image that `live`, its Deployment, runs on the accelerator that the spec asks for.

    It lets replicas scale and be replaced while the operator has no image to hand out.
    """
    container = running_container(live)
    if container is None:
        return None
    devices = {name for name in container.get("resources", {}).get("limits", {}) if "/" in name}
    gpu = orthrus.spec.accelerator.gpu_resource
    image: str = container["image"]
    return image if devices == ({gpu} if gpu else set()) else None
