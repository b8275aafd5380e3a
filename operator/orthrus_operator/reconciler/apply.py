"""Bringing one child in line, with as few requests as possible."""

import hashlib
import json
import logging
from typing import Any, NamedTuple

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.containment import Difference, differences
from orthrus_operator.planner.kept_fields import (
    dropped_problem,
    has_image_volume,
    rewriting_note,
)
from orthrus_operator.planner.problem import Problem
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.faults import Faults
from orthrus_operator.reconciler.ownership import ownership_problem
from orthrus_operator.reconciler.paths import object_path

_logger = logging.getLogger(__name__)


class Applied(NamedTuple):
    """What came of one apply or removal."""

    stored: KubernetesObject | None
    """The child as it is stored afterwards; the live one where nothing was done; None when it is
    removed, or was never made."""
    problem: Problem | None = None
    retry: bool = False
    """Whether another try, soon, may do better."""
    in_line: bool = False
    """Whether what is stored is ours and what the cluster makes of what is asked for."""
    note: str | None = None
    """What the cluster made of it, when that does no harm."""


class _Mark(NamedTuple):
    """By which an object is known to be what came of an apply."""

    asked: str
    version: Any
    differences: tuple[Difference, ...]
    """What the cluster made of it: another apply would come to the same."""


class Applier:
    """Applies children, and remembers what it applied so that it need not ask again."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._applied: dict[str, _Mark] = {}
        self._differing: dict[str, tuple[str, Any]] = {}
        """What a trial said an apply would change, so that a pause need not try it again."""
        self._faults = Faults()

    async def apply(
        self, desired: KubernetesObject, live: KubernetesObject | None, owner_uid: str
    ) -> Applied:
        """Never raises ApiError: what is wrong with one child keeps no other from its apply."""
        if live and (problem := ownership_problem(live, owner_uid)):
            return Applied(live, problem, retry=True)
        path = object_path(desired)
        if live and self._applied.get(path) == (mark := _mark(desired, live)):
            self._faults.passed(path)
            return _outcome(desired, live, mark)
        body = _pinned(desired, live) if live else desired
        try:
            # What a cluster may drop would replace pods that work by some that cannot.
            if has_image_volume(desired):
                trial = await self._api.apply(path, body, trial=True)
                if dropped := dropped_problem(desired, differences(desired, trial)):
                    return Applied(live, dropped)
            stored = await self._api.apply(path, body)
        except ApiError as error:
            return Applied(live, self._faults.problem(desired, error), retry=True)
        _logger.info("applied %s", path)
        self._faults.passed(path)
        self._applied[path] = mark = _mark(desired, stored)
        return _outcome(desired, stored, mark)

    def unread(self, desired: KubernetesObject, error: ApiError) -> Applied:
        """What comes of a child whose kind could not be listed: nothing, this time."""
        return Applied(None, self._faults.problem(desired, error), retry=True)

    async def differs(
        self, desired: KubernetesObject, live: KubernetesObject | None, owner_uid: str
    ) -> bool:
        """Whether an apply would change or be refused something. Stores nothing."""
        if live is None or ownership_problem(live, owner_uid):
            return True
        path = object_path(desired)
        if self._applied.get(path) == _mark(desired, live):
            return False
        tried = _digest(desired), live["metadata"]["resourceVersion"]
        if self._differing.get(path) == tried:
            return True
        try:
            trial = await self._api.apply(path, _pinned(desired, live), trial=True)
        except ApiError as error:
            _logger.warning("trial of %s failed: %s", path, error)
            return True
        if _substance(trial) != _substance(live):
            self._differing[path] = tried
            return True
        self._applied[path] = _mark(desired, live)
        return False

    async def remove(self, child: KubernetesObject) -> Applied:
        """Deletes what nothing wants any more. Never raises ApiError."""
        path = object_path(child)
        try:
            await self._api.delete(path, child["metadata"]["uid"])
        except ApiError as error:
            return Applied(child, self._faults.problem(child, error), retry=True)
        _logger.info("deleted %s: nothing wants it any more", path)
        self.forget(path)
        return Applied(None)

    def forget(self, path: str) -> None:
        """Drops the memory of an object that is gone."""
        self._applied.pop(path, None)
        self._differing.pop(path, None)
        self._faults.passed(path)


def _pinned(desired: KubernetesObject, live: KubernetesObject) -> KubernetesObject:
    """With the uid, an apply fails rather than adopt an object that was re-created meanwhile."""
    return {**desired, "metadata": {**desired["metadata"], "uid": live["metadata"]["uid"]}}


def _mark(desired: KubernetesObject, stored: KubernetesObject) -> _Mark:
    return _Mark(_digest(desired), _version(stored), tuple(differences(desired, stored)))


def _outcome(desired: KubernetesObject, stored: KubernetesObject, mark: _Mark) -> Applied:
    return Applied(
        stored,
        dropped_problem(desired, mark.differences),
        in_line=True,
        note=rewriting_note(desired, mark.differences),
    )


def _version(stored: KubernetesObject) -> Any:
    """What changes with whatever someone else changes, but not with the status."""
    metadata = stored["metadata"]
    if "generation" in metadata:
        return metadata["generation"]
    if "status" in stored:  # of an HPA, which changes all the time and counts no generations
        return _digest(stored["spec"])
    return metadata["resourceVersion"]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _substance(stored: KubernetesObject) -> KubernetesObject:
    """Without what the API server counts and notes by itself."""
    noted = ("managedFields", "resourceVersion", "generation")
    metadata = {key: each for key, each in stored["metadata"].items() if key not in noted}
    return {**stored, "metadata": metadata}
