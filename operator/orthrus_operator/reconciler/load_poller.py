"""Looking at all OrthrusDeployments and their replicas, again and again, for the metrics."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.deployment_load import DeploymentLoad, Look, deployment_load
from orthrus_operator.planner.embedding_space import ReplicaSpaces
from orthrus_operator.planner.metric_table import ReplicaCounts
from orthrus_operator.planner.replica_sample import ReplicaSample
from orthrus_operator.reconciler.asking_order import asking_order
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.paths import collection_path
from orthrus_operator.reconciler.replica_address import replica_address, serves
from orthrus_operator.reconciler.replica_scrapes import scrape

_PERIOD_SECONDS = 15.0
_TRUE_FOR_SECONDS = 60.0
"""What was seen longer ago is not shown: nothing is better than something stale."""

_logger = logging.getLogger(__name__)

Deployments = Mapping[ObjectKey, tuple[ReplicaCounts, DeploymentLoad]]


@dataclass(frozen=True)
class _Replica:
    """A replica that serves."""

    name: str
    owner: ObjectKey
    address: str


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
        self._spaces: dict[ObjectKey, dict[str, ReplicaSpaces]] = {}
        self._looks: dict[str, Look] = {}
        self._seen: Deployments = {}
        self._seen_at = 0.0

    def deployments(self) -> Deployments:
        """As last seen; empty when that was too long ago to be true."""
        fresh = self._clock() - self._seen_at <= _TRUE_FOR_SECONDS
        return self._seen if fresh else {}

    def spaces(self, key: ObjectKey) -> Mapping[str, ReplicaSpaces] | None:
        """What replicas that serve said last of their vectors, by the uid of their pod; None before
        the first look."""
        return self._spaces.get(key, {}) if self._seen_at else None

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
        """One look at everything. Raises ApiError and connection errors."""
        counts: dict[ObjectKey, ReplicaCounts] = {}
        replicas: dict[str, _Replica] = {}
        for namespace in self._namespaces:
            path = collection_path(API_VERSION, KIND, namespace)
            async for found in self._api.pages(path):
                counts.update({_key(each): _counts(each) for each in found})
            path = collection_path("v1", "Pod", namespace)
            async for pods in self._api.pages(path, DEPLOYMENT_LABEL):
                replicas.update(
                    {pod["metadata"]["uid"]: _replica(pod) for pod in pods if serves(pod)}
                )
        asked = asking_order(
            (uid for uid, each in replicas.items() if each.owner in counts), self._looks
        )
        addresses = {uid: replicas[uid].address for uid in asked}
        samples = await scrape(addresses, self._period)
        made: dict[str, Look] = {}
        looks: dict[ObjectKey, list[Look]] = {}
        for uid, sample in samples.items():
            before = self._looks.get(uid)
            made[uid] = Look(before.now if before else None, sample)
            looks.setdefault(replicas[uid].owner, []).append(made[uid])
        self._looks = made
        self._seen = {
            key: (each, deployment_load(looks.get(key, ()))) for key, each in counts.items()
        }
        self._seen_at = self._clock()
        self._learn_spaces(replicas, samples)

    def _learn_spaces(
        self, replicas: Mapping[str, _Replica], samples: Mapping[str, ReplicaSample]
    ) -> None:
        """One that did not answer this time keeps its vectors."""
        before, self._spaces = self._spaces, {}
        for uid, replica in replicas.items():
            known = before.get(replica.owner, {}).get(uid)
            if uid in samples and samples[uid].embedding_spaces:
                known = ReplicaSpaces(replica.name, samples[uid].embedding_spaces)
            if known:
                self._spaces.setdefault(replica.owner, {})[uid] = known
        for key in before.keys() | self._spaces.keys():
            if before.get(key) != self._spaces.get(key):
                self._spaces_changed(key)


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
