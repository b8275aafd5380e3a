"""Kubernetes events about an OrthrusDeployment, aggregated and bounded."""

import logging
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from orthrus_operator.api.group import API_VERSION, GROUP, KIND
from orthrus_operator.api.orthrus_deployment import Metadata
from orthrus_operator.planner.happenings import Happening
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import child_path
from orthrus_operator.reconciler.timestamps import micro_timestamp

_EVENTS = ("events.k8s.io/v1", "Event")
_SERIES_SECONDS = 3600.0
"""The API server forgets an event after an hour, unless told otherwise."""
_BUDGET = 25
"""Most requests for one object in `_SERIES_SECONDS`: whatever flaps, etcd is not filled."""
_KEPT_FOR_NEWS = 8
"""Of these, for reasons that were not told in that time: what flaps must not hide what is new."""
_LONGEST_NOTE = 1024
"""Bytes."""

_logger = logging.getLogger(__name__)


@dataclass
class _Series:
    """One event as stored, and how often it has happened."""

    path: str
    started: float
    count: int = 1


@dataclass
class _Memory:
    """What was recorded for one object lately."""

    uid: str
    series: dict[Happening, _Series] = field(default_factory=dict)
    sent: deque[float] = field(default_factory=deque)


class EventRecorder:
    """Records happenings as events.k8s.io/v1 Events.

    Best effort: an event that cannot be written is logged and given up, as nothing depends on it.
    """

    def __init__(self, api: Api, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        self._instance = socket.gethostname()[:128]
        self._memories: dict[ObjectKey, _Memory] = {}

    async def record(self, about: Metadata, happening: Happening) -> None:
        """One more of `happening`: a new event, or a higher count of one that is there already."""
        key, now = ObjectKey(about.namespace, about.name), self._clock()
        memory = self._memories.get(key)
        if memory is None or memory.uid != about.uid:
            memory = self._memories[key] = _Memory(about.uid)
        while memory.sent and now - memory.sent[0] > _SERIES_SECONDS:
            memory.sent.popleft()
        _drop_old(memory, now)
        is_news = happening.reason not in {each.reason for each in memory.series}
        if len(memory.sent) >= (_BUDGET if is_news else _BUDGET - _KEPT_FOR_NEWS):
            return
        memory.sent.append(now)
        try:
            await self._send(about, happening, memory, now)
        except (ApiError, aiohttp.ClientError) as error:
            _logger.warning("event %s of %s is lost: %s", happening.reason, key, error)

    def forget(self, key: ObjectKey) -> None:
        """Drops the memory of an object that is gone."""
        self._memories.pop(key, None)

    async def _send(
        self, about: Metadata, happening: Happening, memory: _Memory, now: float
    ) -> None:
        known = memory.series.get(happening)
        if known:
            series = {"count": known.count + 1, "lastObservedTime": micro_timestamp()}
            if await self._api.merge(known.path, {"series": series}):
                known.count += 1
                return
        name = f"{about.name}.{secrets.token_hex(8)}"
        path = child_path(*_EVENTS, about.namespace, name)
        await self._api.create(path.rpartition("/")[0], self._event(about, happening, name))
        memory.series[happening] = _Series(path, now)

    def _event(self, about: Metadata, happening: Happening, name: str) -> dict[str, Any]:
        api_version, kind = _EVENTS
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": about.namespace},
            "eventTime": micro_timestamp(),
            "reportingController": f"{GROUP}/operator",
            "reportingInstance": self._instance,
            "action": "Reconcile",
            "type": happening.type,
            "reason": happening.reason,
            "note": happening.message.encode()[:_LONGEST_NOTE].decode(errors="ignore"),
            "regarding": {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "name": about.name,
                "namespace": about.namespace,
                "uid": about.uid,
            },
        }


def _drop_old(memory: _Memory, now: float) -> None:
    memory.series = {
        happening: series
        for happening, series in memory.series.items()
        if now - series.started <= _SERIES_SECONDS
    }
