"""What to do about the children of one OrthrusDeployment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.autoscaler import AUTOSCALER_KINDS
from orthrus_operator.planner.desired import Installation, desired
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.rollout_state import rollout_state
from orthrus_operator.reconciler.autoscalers import ending, retired_autoscalers
from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.reconciler.ownership import is_owned
from orthrus_operator.reconciler.paths import AUTOSCALER, POD_NEEDS, child_path, object_path


@dataclass(frozen=True)
class Observed:
    """What exists for one OrthrusDeployment."""

    live: dict[str, KubernetesObject]
    """Children by path, and HPAs of others that scale it, or did."""
    pods: tuple[KubernetesObject, ...]
    unreadable: dict[str, ApiError]
    """Kinds that could not be read and without which replicas serve, with what the API server
    said."""

    @property
    def knows_autoscalers(self) -> bool:
        """Whether HPAs could be read."""
        return AUTOSCALER[1] not in self.unreadable


@dataclass(frozen=True)
class Plan:
    """The children to apply, in this order, then those to remove."""

    wanted: tuple[KubernetesObject, ...]
    unwanted: tuple[KubernetesObject, ...]
    """What an earlier spec or operator made."""
    problems: tuple[Problem, ...]
    """What keeps it from being all."""
    unread: tuple[tuple[KubernetesObject, ApiError], ...]
    """Children of a kind that could not be listed: neither wanted nor unwanted this time."""
    unmade: tuple[str, ...]
    """Kinds that the spec asks for and the cluster does not know."""
    retry: bool
    """Whether something is in the way that may be gone soon."""
    unscaled: Problem | None = None
    """Why there is no autoscaler though the spec asks for one."""
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the path of a child, those of what must be in line before it is applied: a pod that cannot
    mount what it names hangs, and with a stranger's account it may do what its author may not."""
    retired: frozenset[str] = frozenset()
    """Paths of the autoscalers of an earlier spec. Only when they are gone another one is wanted:
    two on one target block each other, and KEDA refuses to be the second."""


def plan(orthrus: OrthrusDeployment, installation: Installation, observed: Observed) -> Plan:
    """Pure: what `observed` lacks, and what it has too much."""
    own = own_deployment(orthrus, observed.live)
    aim = desired(orthrus, installation, own)
    unreadable = [
        (child, observed.unreadable[child["kind"]])
        for child in aim.objects
        if child["kind"] in observed.unreadable
    ]
    wanted = tuple(child for child in aim.objects if child["kind"] not in observed.unreadable)
    kept = {object_path(child) for child in wanted}
    if own:
        # Also when nobody can say what it should run.
        kept.add(object_path(own))
    unread = tuple((child, error) for child, error in unreadable if error.status != 404)
    retired = retired_autoscalers(observed.live, kept, orthrus.metadata.uid)
    needed = filter(_named_by_pods, wanted)
    return Plan(
        wanted=tuple(
            child for child in wanted if not (retired and child["kind"] in AUTOSCALER_KINDS)
        ),
        unwanted=tuple(
            child
            for path, child in observed.live.items()
            if path not in kept
            and is_owned(child, orthrus.metadata.uid)
            and "deletionTimestamp" not in child["metadata"]
        ),
        problems=(aim.problem,) if aim.problem else (),
        unread=unread,
        unmade=tuple(child["kind"] for child, error in unreadable if error.status == 404),
        retry=bool(retired),
        unscaled=aim.unscaled or ending(retired, orthrus.metadata.uid),
        needs={_deployment_path(orthrus): frozenset(object_path(child) for child in needed)},
        retired=frozenset(retired),
    )


def removable(
    todo: Plan, own: KubernetesObject | None, in_line: Collection[str]
) -> tuple[KubernetesObject, ...]:
    """What of the unwanted may go now; `own` is the Deployment after the applies, of which those of
    the paths `in_line` went well.

    Until a rollout is over, pods of the earlier template are made again, and name what it named.
    """
    over = own is None or (object_path(own) in in_line and rollout_state(own).over)
    return tuple(child for child in todo.unwanted if over or not _named_by_pods(child))


def own_deployment(
    orthrus: OrthrusDeployment, live: Mapping[str, KubernetesObject]
) -> KubernetesObject | None:
    """The Deployment among `live`, by path, if it belongs to `orthrus`."""
    found = live.get(_deployment_path(orthrus))
    return found if found and is_owned(found, orthrus.metadata.uid) else None


def _named_by_pods(child: KubernetesObject) -> bool:
    return (child["apiVersion"], child["kind"]) in POD_NEEDS


def _deployment_path(orthrus: OrthrusDeployment) -> str:
    return child_path("apps/v1", "Deployment", orthrus.metadata.namespace, orthrus.metadata.name)
