"""Which HPAs scale which OrthrusDeployment: their names only; what they are like is read live."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from orthrus_operator.planner.scaling_state import target_name
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import AUTOSCALER, collection_path

_COMPLETE_FOR_SECONDS = 600.0
"""Should the watch miss one, or its end, that is found after so long."""

_Targets = dict[str, str | None]
"""The OrthrusDeployment of each HPA by its name; None of one that scales none, or is gone."""


class AutoscalerNames:
    """Remembers them from the watch, and from a list of each namespace now and then.

    The API server selects by label, not by target, and whoever writes an HPA by hand need not know
    our label. A list of all in each look at an object would be n lists of n for n objects.
    """

    def __init__(
        self,
        api: Api,
        listed: Callable[[str, Collection[str]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`listed` is called after each list with the namespace and the names of all its HPAs."""
        self._api = api
        self._listed = listed
        self._clock = clock
        self._targets: dict[str, dict[str, str]] = defaultdict(dict)
        """By namespace: the OrthrusDeployment of each HPA by its name."""
        self._meanwhile: dict[str, _Targets] = {}
        """Of namespaces that are being listed, what was seen since that began."""
        self._listed_at: dict[str, float] = {}
        self._listing = asyncio.Lock()

    def saw(self, event: str | None, autoscaler: Mapping[str, Any]) -> None:
        """Takes note of an event of the watch."""
        metadata = autoscaler["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        target = None if event == "DELETED" else target_name(autoscaler)
        if namespace in self._meanwhile:
            self._meanwhile[namespace][name] = target
        if target:
            self._targets[namespace][name] = target
        else:
            self._targets[namespace].pop(name, None)

    async def of(self, key: ObjectKey) -> frozenset[str]:
        """Names of the HPAs that scale `key`. Raises what the client raises."""
        async with self._listing:
            listed_at = self._listed_at.get(key.namespace)
            if listed_at is None or self._clock() - listed_at > _COMPLETE_FOR_SECONDS:
                await self._list(key.namespace)
        targets = self._targets[key.namespace]
        return frozenset(name for name, target in targets.items() if target == key.name)

    async def _list(self, namespace: str) -> None:
        """What it finds replaces what was known: the watch may have missed an end, too."""
        started = self._clock()
        found: _Targets = {}
        meanwhile = self._meanwhile[namespace] = {}
        try:
            async for page in self._api.pages(collection_path(*AUTOSCALER, namespace=namespace)):
                found.update({each["metadata"]["name"]: target_name(each) for each in page})
        finally:
            del self._meanwhile[namespace]
        now = found | meanwhile
        self._targets[namespace] = {name: target for name, target in now.items() if target}
        self._listed_at[namespace] = started
        self._listed(namespace, now)
