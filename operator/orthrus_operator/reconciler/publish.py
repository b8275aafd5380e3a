"""Telling the world what was seen: the status, and an event for what changed in it."""

import logging
from collections.abc import Mapping
from typing import Any

from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import Metadata
from orthrus_operator.planner.happenings import happenings
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.event_recorder import EventRecorder
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import orthrus_path

_logger = logging.getLogger(__name__)


class Publisher:
    """Writes a status where it differs from the stored one; otherwise nothing."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._events = EventRecorder(api)
        self._written: dict[ObjectKey, str] = {}
        """resourceVersion that the object had after its last status."""

    async def publish(
        self, metadata: Metadata, previous: dict[str, Any], status: dict[str, Any]
    ) -> None:
        """`previous` is the status as stored. Raises what the client raises."""
        if status == previous:
            return
        body = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            # With the uid, an object that was re-created meanwhile gets no stale status.
            "metadata": {
                "name": metadata.name,
                "namespace": metadata.namespace,
                "uid": metadata.uid,
            },
            "status": status,
        }
        path = orthrus_path(metadata.namespace, metadata.name)
        try:
            stored = await self._api.apply(f"{path}/status", body)
        except ApiError as error:
            if error.status != 404:
                raise
            return  # Deleted meanwhile: the event of that is on its way.
        key = ObjectKey(metadata.namespace, metadata.name)
        self._written[key] = stored["metadata"]["resourceVersion"]
        ready = status["conditions"][0]
        _logger.info("status of %s: %s, %s", path, ready["reason"], ready["message"])
        for happening in happenings(previous, status):
            await self._events.record(metadata, happening)

    def is_echo(self, key: ObjectKey, stored: Mapping[str, Any]) -> bool:
        """Whether `stored`, from a watch, brings nothing but our own last status.

        The event of somebody's change just before may have been swallowed by this one: but then
        its generation is ahead of the status, or it is being deleted.
        """
        metadata = stored["metadata"]
        return (
            metadata["resourceVersion"] == self._written.get(key)
            and stored["status"].get("observedGeneration") == metadata["generation"]
            and "deletionTimestamp" not in metadata
        )

    def forget(self, key: ObjectKey) -> None:
        """Drops the memory of an object that is gone."""
        self._written.pop(key, None)
        self._events.forget(key)
