"""Asking all replicas again and again: for the metrics, and for what the status tells of them."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import aiohttp

from orthrus_operator.planner.deployment_load import DeploymentLoad, Look, deployment_load
from orthrus_operator.planner.metric_table import ReplicaCounts
from orthrus_operator.planner.replica_sample import ReplicaSample
from orthrus_operator.reconciler.asking_order import asking_order
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.replica_reports import Reports, adapter_reports, reports_of
from orthrus_operator.reconciler.replica_scrapes import scrape
from orthrus_operator.reconciler.serving_replicas import Listed, ServingReplica, list_replicas

_PERIOD_SECONDS = 15.0
_TRUE_FOR_SECONDS = 60.0
"""What was seen longer ago is not shown: nothing is better than something stale."""

_logger = logging.getLogger(__name__)

Deployments = Mapping[ObjectKey, tuple[ReplicaCounts, DeploymentLoad]]


@dataclass(frozen=True)
class _Seen:
    """What came of a look at a namespace."""

    at: float
    deployments: Deployments
    reports: Mapping[ObjectKey, Reports]


class ReplicaPoller:
    """Two lists and a scrape of every replica each time, whatever the number of objects; where
    there are adapters, a question for those besides."""

    def __init__(
        self,
        api: Api,
        namespaces: Sequence[str],
        reports_changed: Callable[[ObjectKey], None],
        period: float = _PERIOD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `namespaces`, it looks at all of them. `reports_changed` is called for each
        object whose replicas say something else than before of their vectors or adapters."""
        self._api = api
        self._namespaces = tuple(namespaces) or (None,)
        self._period = period
        self._clock = clock
        self._reports_changed = reports_changed
        self._looks: dict[str, Look] = {}
        self._seen: dict[str | None, _Seen] = {}
        """By namespace; None for all of them."""

    def deployments(self) -> Deployments:
        """As last seen, without what was seen too long ago to be true."""
        now = self._clock()
        fresh = (seen for seen in self._seen.values() if now - seen.at <= _TRUE_FOR_SECONDS)
        return {key: each for seen in fresh for key, each in seen.deployments.items()}

    def reports(self, key: ObjectKey) -> Reports | None:
        """What replicas that serve said last; None before the first look."""
        seen = self._seen.get(key.namespace) or self._seen.get(None)
        return seen.reports.get(key, {}) if seen else None

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            started = self._clock()
            try:
                await self.look()
            except Exception as error:
                # Whatever goes wrong with replicas must not end the operator.
                _logger.warning("no look at the replicas: %r", error)
            await asyncio.sleep(max(0.0, started + self._period - self._clock()))

    async def look(self) -> None:
        """One look at everything that can be listed."""
        listed = await self._list()
        replicas = {uid: each for found in listed.values() for uid, each in found.replicas.items()}
        addresses = self._in_order(replicas)
        adapted = {uid: each for uid, each in addresses.items() if replicas[uid].has_adapters}
        begun = self._clock()
        adapters = await adapter_reports(adapted, self._period / 2)
        samples = await scrape(addresses, begun + self._period - self._clock())
        looks = self._compare(replicas, samples)
        for namespace, found in listed.items():
            loads = {
                key: (counts, deployment_load(looks.get(key, ())))
                for key, counts in found.counts.items()
            }
            known = self._seen[namespace].reports if namespace in self._seen else {}
            reports = reports_of(found.replicas, samples, adapters, known)
            self._seen[namespace] = _Seen(self._clock(), loads, reports)
            for key in known.keys() | reports.keys():
                if known.get(key) != reports.get(key):
                    self._reports_changed(key)

    async def _list(self) -> dict[str | None, Listed]:
        listed: dict[str | None, Listed] = {}
        for namespace in self._namespaces:
            try:
                listed[namespace] = await list_replicas(self._api, namespace)
            except (ApiError, aiohttp.ClientError) as error:
                # One that is gone, or the rights in it, keeps no other from being seen.
                where = f"namespace {namespace}" if namespace else "the cluster"
                _logger.warning("no look at the replicas of %s: %r", where, error)
        return listed

    def _in_order(self, replicas: Mapping[str, ServingReplica]) -> dict[str, str]:
        """Addresses by uid, those first whom it pays to ask first."""
        return {uid: replicas[uid].address for uid in asking_order(replicas, self._looks)}

    def _compare(
        self, replicas: Mapping[str, ServingReplica], samples: Mapping[str, ReplicaSample]
    ) -> dict[ObjectKey, list[Look]]:
        """The samples with those of the last time, by the object of their replica."""
        made: dict[str, Look] = {}
        looks: dict[ObjectKey, list[Look]] = {}
        for uid, sample in samples.items():
            before = self._looks.get(uid)
            made[uid] = Look(before.now if before else None, sample)
            looks.setdefault(replicas[uid].owner, []).append(made[uid])
        self._looks = made
        return looks
