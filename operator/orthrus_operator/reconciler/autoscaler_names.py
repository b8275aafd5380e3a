"""Which HPAs scale which OrthrusDeployment: their names only; what they are like is read live."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from orthrus_operator.planner.scaling_state import target_name
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import AUTOSCALER, collection_path

_COMPLETE_FOR_SECONDS = 600.0
"""Should the watch miss one, it is found after so long."""


class AutoscalerNames:
    """Remembers them from the watch, and from a list of each namespace now and then.

    The API server selects by label, not by target, and whoever writes an HPA by hand need not know
    our label. A list of all in each look at an object would be n lists of n for n objects.
    """

    def __init__(self, api: Api, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        self._targets: dict[str, dict[str, str]] = defaultdict(dict)
        """By namespace: the target of each HPA by its name. One too many does no harm."""
        self._listed_at: dict[str, float] = {}
        self._listing = asyncio.Lock()

    def saw(self, event: str | None, autoscaler: Mapping[str, Any]) -> None:
        """Takes note of an event of the watch."""
        metadata = autoscaler["metadata"]
        if event == "DELETED":
            self._targets[metadata["namespace"]].pop(metadata["name"], None)
        else:
            self._note(autoscaler)

    async def of(self, key: ObjectKey) -> frozenset[str]:
        """Names of the HPAs that scale `key`, and perhaps some that did. Raises what the client
        raises."""
        async with self._listing:
            listed_at = self._listed_at.get(key.namespace)
            if listed_at is None or self._clock() - listed_at > _COMPLETE_FOR_SECONDS:
                await self._list(key.namespace)
        targets = self._targets[key.namespace]
        return frozenset(name for name, target in targets.items() if target == key.name)

    async def _list(self, namespace: str) -> None:
        started = self._clock()
        async for found in self._api.pages(collection_path(*AUTOSCALER, namespace=namespace)):
            for autoscaler in found:
                self._note(autoscaler)
        self._listed_at[namespace] = started

    def _note(self, autoscaler: Mapping[str, Any]) -> None:
        metadata = autoscaler["metadata"]
        targets = self._targets[metadata["namespace"]]
        if target := target_name(autoscaler):
            targets[metadata["name"]] = target
        else:
            targets.pop(metadata["name"], None)
