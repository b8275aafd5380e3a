"""Reading all that exists for one OrthrusDeployment."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import (
    AUTOSCALER,
    CHILD_KINDS,
    OPTIONAL_CHILD_KINDS,
    child_path,
    collection_path,
    object_path,
)
from orthrus_operator.reconciler.plan import Observed

_Objects = list[KubernetesObject]


class Observer:
    """Reads everything live: events, which others work from, can be missed."""

    def __init__(self, api: Api, autoscalers: AutoscalerNames) -> None:
        self._api = api
        self._autoscalers = autoscalers

    async def observe(self, key: ObjectKey) -> Observed:
        """All children and pods of `key`, and what else scales it.

        Raises ApiError when a kind cannot be read without which nothing can be done.
        """
        *lists, pods = await asyncio.gather(
            *(self._list(kind, key) for kind in (*CHILD_KINDS, ("v1", "Pod"))),
        )
        spared = await asyncio.gather(
            _spared(self._scalers(key)),
            *(_spared(self._list(kind, key)) for kind in OPTIONAL_CHILD_KINDS),
        )
        lists += [found for found in spared if not isinstance(found, ApiError)]
        return Observed(
            live={object_path(child): child for found in lists for child in found},
            pods=tuple(pods),
            unreadable={
                kind: found
                for (_, kind), found in zip(
                    (AUTOSCALER, *OPTIONAL_CHILD_KINDS), spared, strict=True
                )
                if isinstance(found, ApiError)
            },
        )

    async def _list(self, kind: tuple[str, str], key: ObjectKey) -> _Objects:
        """Those with the deployment's label."""
        path = collection_path(*kind, namespace=key.namespace)
        found = await self._api.list(path, f"{DEPLOYMENT_LABEL}={key.name}")
        # Items of a list carry neither apiVersion nor kind.
        return [{"apiVersion": kind[0], "kind": kind[1], **item} for item in found]

    async def _scalers(self, key: ObjectKey) -> _Objects:
        """HPAs of ours, and whatever others are known to scale it."""
        ours = await self._list(AUTOSCALER, key)
        others = await self._autoscalers.of(key) - {each["metadata"]["name"] for each in ours}
        paths = (child_path(*AUTOSCALER, key.namespace, name) for name in sorted(others))
        found = await asyncio.gather(*(self._api.get(path) for path in paths))
        return [*ours, *(each for each in found if each)]


async def _spared(reading: Coroutine[Any, Any, _Objects]) -> _Objects | ApiError:
    """A kind without which replicas serve keeps nothing else from being done."""
    try:
        return await reading
    except ApiError as error:
        return error
