"""One idempotent pass over one OrthrusDeployment: read, apply, prune, write status."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.api.orthrus_deployment import Metadata, OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.containment import missing_field
from orthrus_operator.planner.desired import (
    ServingImages,
    desired_objects,
    running_image,
    serving_image,
)
from orthrus_operator.planner.invalid_spec import invalid_spec
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.status import World, observed_status, unobserved_status
from orthrus_operator.reconciler.apply import Applier
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.outcome import ObjectKey, Outcome
from orthrus_operator.reconciler.ownership import ownership_problem
from orthrus_operator.reconciler.paths import (
    CHILD_KINDS,
    child_path,
    collection_path,
    object_path,
    orthrus_path,
)
from orthrus_operator.reconciler.publish import Publisher

_logger = logging.getLogger(__name__)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Reconciler:
    """Brings the world in line with one OrthrusDeployment at a time.

    It keeps no state that matters: everything is read live, since events can be missed.
    """

    def __init__(self, api: Api, images: ServingImages, now: Callable[[], str] = _now) -> None:
        self._api = api
        self._images = images
        self._now = now
        self._applier = Applier(api)
        self._publisher = Publisher(api)

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
            children, pods = await self._observe(key)
        except ApiError as error:
            if error.status != 403:
                raise
            message = f"the operator may not look: {error.message}; give it its rights"
            return await self._give_up(metadata, previous, Problem("Forbidden", message, False))
        world, retry = await self._act(orthrus, children, tuple(pods))
        status = observed_status(orthrus, world, previous, self._now())
        await self._publisher.publish(metadata, previous, status)
        return Outcome.RETRY if retry else Outcome.DONE

    async def _give_up(
        self, metadata: Metadata, previous: dict[str, Any], problem: Problem
    ) -> Outcome:
        """Says why nothing can be done; what runs is left as it is."""
        status = unobserved_status(metadata.generation, problem, previous, self._now())
        await self._publisher.publish(metadata, previous, status)
        return Outcome.DONE if problem.stalled else Outcome.RETRY

    def _forget(self, key: ObjectKey) -> None:
        for api_version, kind in CHILD_KINDS:
            self._applier.forget(child_path(api_version, kind, *key))
        self._publisher.forget(key)

    async def _observe(
        self, key: ObjectKey
    ) -> tuple[list[KubernetesObject], list[KubernetesObject]]:
        """All children and pods that carry the deployment's label."""
        selector = f"{DEPLOYMENT_LABEL}={key.name}"
        kinds = (*CHILD_KINDS, ("v1", "Pod"))
        lists = await asyncio.gather(
            *(
                self._api.list(collection_path(*kind, namespace=key.namespace), selector)
                for kind in kinds
            )
        )
        children = [
            # Items of a list carry neither apiVersion nor kind.
            {"apiVersion": api_version, "kind": kind, **item}
            for (api_version, kind), items in zip(CHILD_KINDS, lists, strict=False)
            for item in items
        ]
        return children, lists[-1]

    async def _act(
        self,
        orthrus: OrthrusDeployment,
        children: list[KubernetesObject],
        pods: tuple[KubernetesObject, ...],
    ) -> tuple[World, bool]:
        """The world afterwards, and whether to look again soon."""
        live = {object_path(child): child for child in children}
        own = _own_deployment(orthrus, live)
        image = serving_image(orthrus, self._images)
        if isinstance(image, Problem):
            problems, desired = [image], desired_objects(orthrus, running_image(orthrus, own))
        else:
            problems, desired = [], desired_objects(orthrus, image)
        for wanted in desired:
            path = object_path(wanted)
            # A stranger's object of this name lacks our label, so the lists don't show it.
            if path not in live and (found := await self._api.get(path)):
                live[path] = found
        owner = orthrus.metadata.uid
        if orthrus.spec.paused:
            held_back = _differences(desired, live, owner)
            return World(own, pods, tuple(problems), held_back), bool(problems)
        retry = bool(problems)
        for wanted in desired:
            path = object_path(wanted)
            applied = await self._applier.apply(wanted, live.get(path), owner)
            if applied.stored:
                live[path] = applied.stored
            if applied.problem:
                problems.append(applied.problem)
            retry = retry or applied.retry
        wanted_paths = {object_path(wanted) for wanted in desired}
        if own:
            # Also when no image is known to make it again from.
            wanted_paths.add(object_path(own))
        await self._prune(wanted_paths, live, owner)
        return World(_own_deployment(orthrus, live), pods, tuple(problems)), retry

    async def _prune(self, wanted: set[str], live: dict[str, KubernetesObject], owner: str) -> None:
        """Deletes what an earlier spec or operator made and nothing wants any more."""
        for path, child in live.items():
            ending = child["metadata"].get("deletionTimestamp")
            if path not in wanted and not ending and _owned(child, owner):
                await self._api.delete(path, child["metadata"]["uid"])
                _logger.info("deleted %s: nothing wants it any more", path)
                self._applier.forget(path)


def _differences(
    desired: tuple[KubernetesObject, ...], live: dict[str, KubernetesObject], owner: str
) -> tuple[str, ...]:
    """Names of the children that aren't as they should be."""
    return tuple(
        f"{wanted['kind']} {wanted['metadata']['name']}"
        for wanted in desired
        if (path := object_path(wanted)) not in live
        or ownership_problem(live[path], owner)
        or missing_field(wanted, live[path])
    )


def _own_deployment(
    orthrus: OrthrusDeployment, live: dict[str, KubernetesObject]
) -> KubernetesObject | None:
    metadata = orthrus.metadata
    found = live.get(child_path("apps/v1", "Deployment", metadata.namespace, metadata.name))
    return found if found and _owned(found, metadata.uid) else None


def _owned(child: KubernetesObject, owner: str) -> bool:
    owners = child["metadata"].get("ownerReferences", [])
    return any(reference["uid"] == owner for reference in owners)
