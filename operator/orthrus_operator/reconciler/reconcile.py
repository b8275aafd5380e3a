"""One idempotent pass over one OrthrusDeployment: read, apply, prune, write status."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from orthrus_operator.api.orthrus_deployment import Metadata, OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.desired import Installation
from orthrus_operator.planner.invalid_spec import invalid_spec
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.replica_report import ReplicaReport
from orthrus_operator.planner.status import World, observed_status, unobserved_status
from orthrus_operator.planner.unsettled import is_unsettled
from orthrus_operator.reconciler.apply import Applier
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.autoscalers import with_autoscalers, with_problems
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.observe import Observer
from orthrus_operator.reconciler.outcome import ObjectKey, Outcome
from orthrus_operator.reconciler.paths import (
    AUTOSCALER,
    CHILD_KINDS,
    OPTIONAL_CHILD_KINDS,
    child_path,
    object_path,
    orthrus_path,
)
from orthrus_operator.reconciler.plan import Observed, Plan, own_deployment, plan, removable
from orthrus_operator.reconciler.publish import Publisher
from orthrus_operator.reconciler.replica_address import serves
from orthrus_operator.reconciler.replica_reports import Reports
from orthrus_operator.reconciler.scale_down import mark_emptiest
from orthrus_operator.reconciler.timestamps import timestamp

_logger = logging.getLogger(__name__)


class Reconciler:
    """Brings the world in line with one OrthrusDeployment at a time.

    It keeps no state that matters: everything is read live, since events can be missed.
    """

    def __init__(
        self,
        api: Api,
        installation: Installation,
        reports: Callable[[ObjectKey], Reports | None],
        autoscalers: AutoscalerNames,
        now: Callable[[], str] = timestamp,
    ) -> None:
        """`reports`: what an object's replicas said last; None when nobody has asked them yet. No
        look at an object waits for a replica: there may be hundreds that do not answer."""
        self._api = api
        self._installation = installation
        self._reports = reports
        self._now = now
        self._observer = Observer(api, autoscalers)
        self._applier = Applier(api)
        self._publisher = Publisher(api)
        self.is_echo = self._publisher.is_echo

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Raises ApiError and connection errors; the queue tries again then."""
        stored = await self._api.get(orthrus_path(*key))
        if stored is None or stored["metadata"].get("deletionTimestamp"):
            self._forget(key)
            return Outcome.GONE
        metadata = Metadata.model_validate(stored["metadata"])
        previous = stored.get("status", {})
        try:
            orthrus = OrthrusDeployment.from_object(stored)
        except ValidationError as error:
            return await self._give_up(metadata, previous, invalid_spec(error))
        try:
            observed = await self._observer.observe(key)
        except ApiError as error:
            if error.status != 403:
                raise
            message = f"the operator may not look: {error.message}; give it its rights"
            return await self._give_up(metadata, previous, Problem("Forbidden", message, False))
        world, retry = await self._act(orthrus, observed)
        world = replace(world, reports=self._reports_of(key, world.pods))
        status = observed_status(orthrus, world, previous, self._now())
        await self._publisher.publish(metadata, previous, status)
        return Outcome.RETRY if retry or is_unsettled(world, status) else Outcome.DONE

    def _reports_of(
        self, key: ObjectKey, pods: Sequence[KubernetesObject]
    ) -> tuple[ReplicaReport, ...] | None:
        told = self._reports(key)
        if told is None:
            return None
        uids = [pod["metadata"]["uid"] for pod in pods if serves(pod)]
        return tuple(told[uid] for uid in uids if uid in told)

    async def _give_up(
        self, metadata: Metadata, previous: dict[str, Any], problem: Problem
    ) -> Outcome:
        """Says why nothing can be done; what runs is left as it is."""
        status = unobserved_status(metadata.generation, problem, previous, self._now())
        await self._publisher.publish(metadata, previous, status)
        return Outcome.DONE if problem.stalled else Outcome.RETRY

    def _forget(self, key: ObjectKey) -> None:
        for api_version, kind in (*CHILD_KINDS, AUTOSCALER, *OPTIONAL_CHILD_KINDS):
            self._applier.forget(child_path(api_version, kind, *key))
        self._publisher.forget(key)

    async def _act(self, orthrus: OrthrusDeployment, observed: Observed) -> tuple[World, bool]:
        """The world afterwards, and whether to look again soon."""
        todo, owner = plan(orthrus, self._installation, observed), orthrus.metadata.uid
        live = {path: child for path, child in observed.live.items() if path not in todo.retired}
        for child in todo.wanted:
            path = object_path(child)
            # A stranger's object of this name lacks our label, so the lists don't show it.
            if path not in live and (found := await self._api.get(path)):
                live[path] = found
        world = World(
            own_deployment(orthrus, live),
            observed.pods,
            todo.problems,
            unmade=todo.unmade,
            unscaled=todo.unscaled,
        )
        known = AUTOSCALER[1] not in observed.unreadable
        made = [(child, self._applier.unread(child, error)) for child, error in todo.unread]
        if orthrus.spec.paused:
            held_back = await self._held_back(todo, live, owner)
            world = replace(with_problems(world, made), held_back=held_back)
            return with_autoscalers(world, orthrus, live, known), bool(made) or not known
        in_line: set[str] = set()
        for child in todo.wanted:
            path = object_path(child)
            if not todo.needs.get(path, frozenset()) <= in_line:
                continue
            if _shrinks(child, live.get(path)):
                await mark_emptiest(self._api, world.pods)
            applied = await self._applier.apply(child, live.get(path), owner)
            if applied.stored:
                live[path] = applied.stored
            if applied.in_line:
                in_line.add(path)
            made.append((child, applied))
        own = own_deployment(orthrus, live)
        unwanted = removable(todo, own, in_line)
        made += [(child, await self._applier.remove(child)) for child in unwanted]
        world = replace(with_problems(world, made), deployment=own)
        retry = todo.retry or any(applied.retry for _, applied in made) or not known
        return with_autoscalers(world, orthrus, live, known), retry

    async def _held_back(
        self, todo: Plan, live: dict[str, KubernetesObject], owner: str
    ) -> tuple[str, ...]:
        """Names of the children that an apply or a removal would change."""
        children = [
            child
            for child in todo.wanted
            if await self._applier.differs(child, live.get(object_path(child)), owner)
        ]
        return tuple(
            f"{child['kind']} {child['metadata']['name']}" for child in (*children, *todo.unwanted)
        )


def _shrinks(wanted: KubernetesObject, live: KubernetesObject | None) -> bool:
    """Whether some replicas go and others stay."""
    return live is not None and 0 < _replicas(wanted) < _replicas(live)


def _replicas(child: KubernetesObject) -> int:
    """0 for what has none."""
    count: int = child.get("spec", {}).get("replicas", 0)
    return count
