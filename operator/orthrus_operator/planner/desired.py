"""What should exist for one OrthrusDeployment."""

from dataclasses import dataclass, field

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.adapters import adapters_config_map
from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.disruption_budget import disruption_budget
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.network_policy import network_policy
from orthrus_operator.builders.pod_monitor import pod_monitor
from orthrus_operator.builders.service import service
from orthrus_operator.builders.service_account import service_account
from orthrus_operator.planner.host_paths import host_path_problem
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.serving_image import ServingImages, running_image, serving_image


@dataclass(frozen=True)
class Installation:
    """What whoever installed the operator decided for all OrthrusDeployments."""

    images: ServingImages = field(default_factory=ServingImages)
    host_paths: tuple[str, ...] = ()
    """Folders of the node that specs may name."""


@dataclass(frozen=True)
class Desired:
    """What should exist, and what keeps it from being all."""

    objects: tuple[KubernetesObject, ...]
    """In the order in which to apply them. The Deployment is not among them when nobody can say
    what it should run; one that exists is left as it is then."""
    problem: Problem | None = None


def desired(
    orthrus: OrthrusDeployment, installation: Installation, live: KubernetesObject | None
) -> Desired:
    """`live` is the Deployment as it is."""
    problem = host_path_problem(orthrus, installation.host_paths)
    if problem:
        return Desired(desired_objects(orthrus, None), problem)
    image = serving_image(orthrus, installation.images)
    if isinstance(image, Problem):
        return Desired(desired_objects(orthrus, running_image(orthrus, live)), image)
    return Desired(desired_objects(orthrus, image))


def desired_objects(orthrus: OrthrusDeployment, image: str | None) -> tuple[KubernetesObject, ...]:
    """All children, without an image all but the Deployment."""
    spec = orthrus.spec
    return (
        service_account(orthrus),
        *([network_policy(orthrus)] if spec.network_policy.enabled else []),
        # Before the Deployment: its pods mount it.
        *([adapters_config_map(orthrus)] if spec.adapters else []),
        *([deployment(orthrus, image)] if image else []),
        service(orthrus),
        disruption_budget(orthrus),
        *([pod_monitor(orthrus)] if spec.monitoring.pod_monitor else []),
    )
