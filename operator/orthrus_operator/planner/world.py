"""What one reconcile saw and did: all that a status is made of."""

from dataclasses import dataclass, field

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.replica_report import ReplicaReport


@dataclass(frozen=True)
class Scaling:
    """Who changes the number of replicas."""

    autoscalers: tuple[KubernetesObject, ...] | None = ()
    """The HPAs that scale the object, whoever made them; None when they could not be read."""
    scaled_object: KubernetesObject | None = None
    """Ours, from which KEDA makes an HPA."""
    problem: Problem | None = None
    """Why there is no autoscaler as the spec asks for; replicas serve without."""


@dataclass(frozen=True)
class World:
    """One OrthrusDeployment and what belongs to it, after all that could be done."""

    deployment: KubernetesObject | None
    pods: tuple[KubernetesObject, ...]
    reports: tuple[ReplicaReport, ...] | None = ()
    """Of the ready replicas that were asked; None when nobody has asked any yet."""
    problems: tuple[Problem, ...] = ()
    """What went wrong while children were brought in line."""
    held_back: tuple[str, ...] = ()
    """Objects that `spec.paused` keeps from being brought in line."""
    unmade: tuple[str, ...] = ()
    """Kinds that the spec asks for and the cluster does not know; replicas serve without them."""
    notes: tuple[str, ...] = ()
    """What the cluster made of objects, when that does no harm."""
    scaling: Scaling = field(default_factory=Scaling)
