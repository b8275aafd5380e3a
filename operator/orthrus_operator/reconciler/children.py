"""Bringing the children of one OrthrusDeployment in line with a plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.reconciler.apply import Applied, Applier
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import (
    AUTOSCALER,
    CHILD_KINDS,
    OPTIONAL_CHILD_KINDS,
    child_path,
    object_path,
)
from orthrus_operator.reconciler.plan import Observed, Plan, own_deployment, removable
from orthrus_operator.reconciler.scale_down import mark_emptiest

_Live = dict[str, KubernetesObject]
_Made = list[tuple[KubernetesObject, Applied]]


@dataclass(frozen=True)
class Done:
    """What came of one pass over the children."""

    live: Mapping[str, KubernetesObject]
    """What exists now, by path; strangers' objects whose names we want included."""
    made: tuple[tuple[KubernetesObject, Applied], ...]
    """Each child that something was tried with, and what came of it."""
    retry: bool
    """Whether another pass, soon, may do better."""
    held_back: tuple[str, ...] = ()
    """Names of the children that a pause keeps from a change."""

    @property
    def adapters_file_is_in_line(self) -> bool:
        """Whether there is one, and it says what the spec does."""
        return any(child["kind"] == "ConfigMap" and each.in_line for child, each in self.made)


class Children:
    """Applies and removes; what is wrong with one child keeps no other from it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._applier = Applier(api)

    async def bring_in_line(
        self, orthrus: OrthrusDeployment, todo: Plan, observed: Observed
    ) -> Done:
        """Raises what reading raises; never for want of a change that was refused."""
        live = await self._present(todo, observed)
        made = [(child, self._applier.unread(child, error)) for child, error in todo.unread]
        if orthrus.spec.paused:
            held_back = await self._held_back(todo, live, orthrus.metadata.uid)
            return Done(live, tuple(made), retry=bool(made), held_back=held_back)
        applied = await self._apply(orthrus, todo, live, observed.pods)
        in_line = {object_path(child) for child, each in applied if each.in_line}
        unwanted = removable(todo, own_deployment(orthrus, live), in_line)
        made += [*applied, *[(child, await self._applier.remove(child)) for child in unwanted]]
        retry = todo.retry or any(each.retry for _, each in made)
        return Done(live, tuple(made), retry)

    def forget(self, key: ObjectKey) -> None:
        """Drops the memory of the children of an object that is gone."""
        for api_version, kind in (*CHILD_KINDS, AUTOSCALER, *OPTIONAL_CHILD_KINDS):
            self._applier.forget(child_path(api_version, kind, *key))

    async def _present(self, todo: Plan, observed: Observed) -> _Live:
        """What has the name of something wanted, and all else of ours but what is retired."""
        live = {path: child for path, child in observed.live.items() if path not in todo.retired}
        for path in map(object_path, todo.wanted):
            # A stranger's object of this name lacks our label, so the lists don't show it.
            if path not in live and (found := await self._api.get(path)):
                live[path] = found
        return live

    async def _apply(
        self,
        orthrus: OrthrusDeployment,
        todo: Plan,
        live: _Live,
        pods: tuple[KubernetesObject, ...],
    ) -> _Made:
        """Each wanted child in its turn, unless what it needs is not in line; `live` follows."""
        made: _Made = []
        in_line: set[str] = set()
        for child in todo.wanted:
            path = object_path(child)
            if not todo.needs.get(path, frozenset()) <= in_line:
                continue
            if _shrinks(child, live.get(path)):
                await mark_emptiest(self._api, pods)
            applied = await self._applier.apply(child, live.get(path), orthrus.metadata.uid)
            if applied.stored:
                live[path] = applied.stored
            if applied.in_line:
                in_line.add(path)
            made.append((child, applied))
        return made

    async def _held_back(self, todo: Plan, live: _Live, owner: str) -> tuple[str, ...]:
        """Names of the children that an apply or a removal would change."""
        changed = [
            child
            for child in todo.wanted
            if await self._applier.differs(child, live.get(object_path(child)), owner)
        ]
        return tuple(
            f"{child['kind']} {child['metadata']['name']}" for child in (*changed, *todo.unwanted)
        )


def _shrinks(wanted: KubernetesObject, live: KubernetesObject | None) -> bool:
    """Whether some replicas go and others stay."""
    return live is not None and 0 < _replicas(wanted) < _replicas(live)


def _replicas(child: KubernetesObject) -> int:
    """0 for what has none."""
    count: int = child.get("spec", {}).get("replicas", 0)
    return count
