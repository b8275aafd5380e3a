"""One active operator: a Lease that its holder renews, as client-go's leader election does.

Expiry is judged by how long the Lease has stood unchanged on our own monotonic clock, so that
neither a skewed clock nor a time zone of another holder matters.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp

from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import child_path
from orthrus_operator.reconciler.timestamps import micro_timestamp

LEASE_NAME = "orthrus-operator"
_LEASE = ("coordination.k8s.io/v1", "Lease")
_FAULTS = (ApiError, aiohttp.ClientError, TimeoutError)
_NO_RIGHTS = frozenset({401, 403, 404})
_CONFLICT = "someone who was quicker"

_logger = logging.getLogger(__name__)


class LeaseLostError(Exception):
    """Another operator may be at work: this one must end at once."""


@dataclass(frozen=True)
class LeaseSettings:
    """Times in seconds. The holder ends itself before others may take over."""

    duration: float = 30.0
    """Others wait so long after the last renewal."""
    deadline: float = 20.0
    """A holder that could not renew for so long has lost the Lease."""
    period: float = 5.0
    """Between two tries."""


class Lease:
    """The Lease in `namespace`, as `identity` sees it."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        identity: str,
        settings: LeaseSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._path = child_path(*_LEASE, namespace, LEASE_NAME)
        self._namespace = namespace
        self._identity = identity
        self._settings = settings or LeaseSettings()
        self._clock = clock
        self._seen: tuple[str, float] = ("", clock())
        """The resourceVersion seen last, and when it was new."""
        self._renewed = clock()
        """When the renewal that succeeded last was sent: others count from no earlier moment."""

    async def acquire(self) -> None:
        """Returns once the Lease is held. Raises ApiError when it may not be used at all."""
        told = ""
        while True:
            try:
                holder = await self.try_to_hold()
            except _FAULTS as error:
                if isinstance(error, ApiError) and error.status in _NO_RIGHTS:
                    raise
                holder = f"nobody, but the API server fails: {error}"
            if holder is None:
                _logger.info("holding the lease %s", self._path)
                return
            if holder != told:
                _logger.info("waiting for the lease %s, held by %s", self._path, holder)
                told = holder
            await asyncio.sleep(self._settings.period)

    async def keep(self) -> None:
        """Renews the Lease for ever. Raises LeaseLostError."""
        while True:
            await asyncio.sleep(self._at_most(self._settings.period))
            try:
                async with asyncio.timeout(self._at_most(self._settings.period)):
                    holder = await self.try_to_hold()
            except _FAULTS as error:
                _logger.warning("the lease could not be renewed: %s", error)
                continue
            # A conflict may be our own renewal, arrived after all; the next try shows the holder.
            if holder not in (None, _CONFLICT):
                raise LeaseLostError(f"{holder} holds the lease {self._path}")

    def _at_most(self, seconds: float) -> float:
        """`seconds`, or what is left of the deadline. Raises LeaseLostError when nothing is."""
        left = self._renewed + self._settings.deadline - self._clock()
        if left <= 0:
            raise LeaseLostError("the lease could not be renewed in time")
        return min(seconds, left)

    async def release(self) -> None:
        """Lets the next one start at once. Best effort: the Lease expires by itself."""
        try:
            stored = await self._api.get(self._path)
            if stored and stored["spec"].get("holderIdentity") == self._identity:
                await self._api.replace(self._path, self._lease(stored, None))
        except _FAULTS as error:
            _logger.warning("the lease could not be released: %s", error)

    async def try_to_hold(self) -> str | None:
        """None when the Lease is ours now, else who has it."""
        sent = self._clock()
        stored = await self._api.get(self._path)
        try:
            if stored is None:
                collection = self._path.rpartition("/")[0]
                await self._api.create(collection, self._lease({}, self._identity))
                self._renewed = sent
                return None
            holder: str | None = stored["spec"].get("holderIdentity")
            if holder not in (None, self._identity) and not self._has_expired(stored):
                return holder
            # It carries the resourceVersion: of two who try, one gets a conflict.
            await self._api.replace(self._path, self._lease(stored, self._identity))
        except ApiError as error:
            if error.status == 409:
                return _CONFLICT
            raise
        self._renewed = sent
        return None

    def _has_expired(self, stored: dict[str, Any]) -> bool:
        version, now = stored["metadata"]["resourceVersion"], self._clock()
        if version != self._seen[0]:
            self._seen = (version, now)
        duration = float(stored["spec"].get("leaseDurationSeconds") or self._settings.duration)
        return now - self._seen[1] > duration

    def _lease(self, stored: dict[str, Any], holder: str | None) -> dict[str, Any]:
        """The Lease to write; without a holder, the API server takes no empty name."""
        api_version, kind = _LEASE
        spec = stored.get("spec", {})
        changes = holder != spec.get("holderIdentity")
        now = micro_timestamp()
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": stored.get("metadata")
            or {"name": LEASE_NAME, "namespace": self._namespace},
            "spec": {
                **({"holderIdentity": holder} if holder else {}),
                "leaseDurationSeconds": round(self._settings.duration),
                "acquireTime": now if changes else spec.get("acquireTime", now),
                "renewTime": now,
                "leaseTransitions": spec.get("leaseTransitions", 0) + int(changes),
            },
        }
