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
from orthrus_operator.planner.autoscaler import autoscaler
from orthrus_operator.planner.host_paths import host_path_problem
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.running_container import adapter_room
from orthrus_operator.planner.serving_image import ServingImages, running_image, serving_image


@dataclass(frozen=True)
class Installation:
    """What whoever installed the operator decided for all OrthrusDeployments."""

    images: ServingImages = field(default_factory=ServingImages)
    host_paths: tuple[str, ...] = ()
    """Folders of the node that specs may name."""
    prometheus: str | None = None
    """Address of the Prometheus that KEDA asks."""


@dataclass(frozen=True)
class Desired:
    """What should exist, and what keeps it from being all."""

    objects: tuple[KubernetesObject, ...]
    """In the order in which to apply them. The Deployment is not among them when nobody can say
    what it should run; one that exists is left as it is then."""
    problem: Problem | None = None
    unscaled: Problem | None = None
    """Why there is no autoscaler though the spec asks for one; replicas serve without."""


def desired(
    orthrus: OrthrusDeployment, installation: Installation, live: KubernetesObject | None
) -> Desired:
    """`live` is the Deployment as it is."""
    scaler = autoscaler(orthrus, installation.prometheus)
    unscaled = scaler if isinstance(scaler, Problem) else None
    scalers = (scaler,) if scaler and not isinstance(scaler, Problem) else ()
    image, problem = _image(orthrus, installation, live)
    objects = desired_objects(orthrus, image, adapter_room(live))
    return Desired((*objects, *scalers), problem, unscaled)


def _image(
    orthrus: OrthrusDeployment, installation: Installation, live: KubernetesObject | None
) -> tuple[str | None, Problem | None]:
    """What the replicas run, if anybody can say, and what is wrong with it."""
    problem = host_path_problem(orthrus, installation.host_paths)
    if problem:
        return None, problem
    image = serving_image(orthrus, installation.images)
    if isinstance(image, Problem):
        return running_image(orthrus, live), image
    return image, None


def desired_objects(
    orthrus: OrthrusDeployment, image: str | None, room: int = 0
) -> tuple[KubernetesObject, ...]:
    """All children but an autoscaler; without an image, not the Deployment either. `room` is for
    how many adapters there is room already."""
    spec = orthrus.spec
    return (
        service_account(orthrus),
        *([network_policy(orthrus)] if spec.network_policy.enabled else []),
        # Before the Deployment: its pods mount it.
        *([adapters_config_map(orthrus)] if spec.adapters else []),
        *([deployment(orthrus, image, room)] if image else []),
        service(orthrus),
        disruption_budget(orthrus),
        *([pod_monitor(orthrus)] if spec.monitoring.pod_monitor else []),
    )
