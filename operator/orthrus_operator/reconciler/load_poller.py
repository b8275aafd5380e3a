"""Looking at all OrthrusDeployments and their replicas, again and again, for the metrics."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import aiohttp

from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.deployment_load import DeploymentLoad, Look, deployment_load
from orthrus_operator.planner.embedding_space import ReplicaSpaces
from orthrus_operator.planner.metric_table import ReplicaCounts
from orthrus_operator.planner.replica_sample import ReplicaSample
from orthrus_operator.reconciler.asking_order import asking_order
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import collection_path
from orthrus_operator.reconciler.replica_address import replica_address, serves
from orthrus_operator.reconciler.replica_scrapes import scrape

_PERIOD_SECONDS = 15.0
_TRUE_FOR_SECONDS = 60.0
"""What was seen longer ago is not shown: nothing is better than something stale."""

_logger = logging.getLogger(__name__)

Deployments = Mapping[ObjectKey, tuple[ReplicaCounts, DeploymentLoad]]
Spaces = Mapping[ObjectKey, Mapping[str, ReplicaSpaces]]
"""What replicas said of their vectors, by the uid of their pod."""


@dataclass(frozen=True)
class _Replica:
    """A replica that serves."""

    name: str
    owner: ObjectKey
    address: str


@dataclass(frozen=True)
class _Listed:
    """What a namespace holds."""

    counts: Mapping[ObjectKey, ReplicaCounts]
    replicas: Mapping[str, _Replica]
    """Those of these objects, by the uid of their pod."""


@dataclass(frozen=True)
class _Seen:
    """What came of a look at a namespace."""

    at: float
    deployments: Deployments
    spaces: Spaces


class LoadPoller:
    """Two lists and a scrape of every replica each time, whatever the number of objects."""

    def __init__(
        self,
        api: Api,
        namespaces: Sequence[str],
        spaces_changed: Callable[[ObjectKey], None],
        period: float = _PERIOD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `namespaces`, it looks at all of them. `spaces_changed` is called for each object
        of whose vectors the replicas say something else than before."""
        self._api = api
        self._namespaces = tuple(namespaces) or (None,)
        self._period = period
        self._clock = clock
        self._spaces_changed = spaces_changed
        self._looks: dict[str, Look] = {}
        self._seen: dict[str | None, _Seen] = {}
        """By namespace; None for all of them."""

    def deployments(self) -> Deployments:
        """As last seen, without what was seen too long ago to be true."""
        now = self._clock()
        fresh = (seen for seen in self._seen.values() if now - seen.at <= _TRUE_FOR_SECONDS)
        return {key: each for seen in fresh for key, each in seen.deployments.items()}

    def spaces(self, key: ObjectKey) -> Mapping[str, ReplicaSpaces] | None:
        """What replicas that serve said last of their vectors, by the uid of their pod; None before
        the first look."""
        seen = self._seen.get(key.namespace) or self._seen.get(None)
        return seen.spaces.get(key, {}) if seen else None

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            started = self._clock()
            try:
                await self.look()
            except Exception as error:
                # Whatever goes wrong with metrics must not end the operator.
                _logger.warning("no look at the replicas for the metrics: %r", error)
            await asyncio.sleep(max(0.0, started + self._period - self._clock()))

    async def look(self) -> None:
        """One look at everything that can be listed."""
        listed: dict[str | None, _Listed] = {}
        for namespace in self._namespaces:
            try:
                listed[namespace] = await self._list(namespace)
            except (ApiError, aiohttp.ClientError) as error:
                # One that is gone, or the rights in it, keeps no other from being seen.
                where = f"namespace {namespace}" if namespace else "the cluster"
                _logger.warning("no look at the replicas of %s for the metrics: %r", where, error)
        replicas = {uid: each for found in listed.values() for uid, each in found.replicas.items()}
        order = asking_order(replicas, self._looks)
        samples = await scrape({uid: replicas[uid].address for uid in order}, self._period)
        made: dict[str, Look] = {}
        looks: dict[ObjectKey, list[Look]] = {}
        for uid, sample in samples.items():
            before = self._looks.get(uid)
            made[uid] = Look(before.now if before else None, sample)
            looks.setdefault(replicas[uid].owner, []).append(made[uid])
        self._looks = made
        for namespace, found in listed.items():
            loads = {
                key: (counts, deployment_load(looks.get(key, ())))
                for key, counts in found.counts.items()
            }
            known = self._seen[namespace].spaces if namespace in self._seen else {}
            spaces = _spaces(found.replicas, samples, known)
            self._seen[namespace] = _Seen(self._clock(), loads, spaces)
            for key in known.keys() | spaces.keys():
                if known.get(key) != spaces.get(key):
                    self._spaces_changed(key)

    async def _list(self, namespace: str | None) -> _Listed:
        """Raises ApiError and connection errors."""
        counts: dict[ObjectKey, ReplicaCounts] = {}
        async for found in self._api.pages(collection_path(API_VERSION, KIND, namespace)):
            counts.update({_key(each): _counts(each) for each in found})
        replicas: dict[str, _Replica] = {}
        async for pods in self._api.pages(
            collection_path("v1", "Pod", namespace), DEPLOYMENT_LABEL
        ):
            serving = {pod["metadata"]["uid"]: _replica(pod) for pod in pods if serves(pod)}
            replicas.update({uid: each for uid, each in serving.items() if each.owner in counts})
        return _Listed(counts, replicas)


def _spaces(
    replicas: Mapping[str, _Replica], samples: Mapping[str, ReplicaSample], before: Spaces
) -> Spaces:
    """One that did not answer this time keeps its vectors."""
    now: dict[ObjectKey, dict[str, ReplicaSpaces]] = {}
    for uid, replica in replicas.items():
        known = before.get(replica.owner, {}).get(uid)
        if uid in samples and samples[uid].embedding_spaces:
            known = ReplicaSpaces(replica.name, samples[uid].embedding_spaces)
        if known:
            now.setdefault(replica.owner, {})[uid] = known
    return now


def _key(orthrus: KubernetesObject) -> ObjectKey:
    return ObjectKey(orthrus["metadata"]["namespace"], orthrus["metadata"]["name"])


def _counts(orthrus: KubernetesObject) -> ReplicaCounts:
    status = orthrus.get("status", {})
    return ReplicaCounts(
        wanted=orthrus["spec"]["replicas"],
        current=status.get("replicas", 0),
        updated=status.get("updatedReplicas", 0),
        ready=status.get("readyReplicas", 0),
    )


def _replica(pod: KubernetesObject) -> _Replica:
    metadata = pod["metadata"]
    owner = ObjectKey(metadata["namespace"], metadata["labels"][DEPLOYMENT_LABEL])
    return _Replica(metadata["name"], owner, replica_address(pod))
