"""What should exist for one OrthrusDeployment."""

from dataclasses import dataclass

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.disruption_budget import disruption_budget
from orthrus_operator.builders.image import image_reference
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.service import service
from orthrus_operator.builders.service_account import service_account


@dataclass(frozen=True)
class ServingImages:
    """Full references of the serving images that the operator hands out."""

    gpu: str
    cpu: str


def desired_objects(
    orthrus: OrthrusDeployment, images: ServingImages
) -> tuple[KubernetesObject, ...]:
    """All children, in the order in which to apply them."""
    default = images.cpu if orthrus.spec.accelerator.type == "cpu" else images.gpu
    image = image_reference(orthrus.spec.image, default)
    return (
        service_account(orthrus),
        deployment(orthrus, image),
        service(orthrus),
        disruption_budget(orthrus),
    )
