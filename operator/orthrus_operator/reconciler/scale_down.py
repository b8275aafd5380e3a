"""Having the emptiest replicas go first, just before a Deployment shrinks."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

import aiohttp

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.emptiness import DELETION_COST, deletion_costs
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import child_path
from orthrus_operator.reconciler.replica_address import replica_address, serves
from orthrus_operator.reconciler.replica_scrapes import scrape

_WITHIN_SECONDS = 5.0

_logger = logging.getLogger(__name__)


async def mark_emptiest(api: Api, pods: Sequence[KubernetesObject]) -> None:
    """Writes each replica's cost on its pod, where it is another than before.

    Best effort: a scale-down that nobody could order goes on all the same.
    """
    ready = {pod["metadata"]["name"]: pod for pod in pods if serves(pod)}
    addresses = {name: replica_address(pod) for name, pod in ready.items()}
    present = {name: _cost(pod) for name, pod in ready.items()}
    costs = deletion_costs(await scrape(addresses, _WITHIN_SECONDS), present)
    with suppress(TimeoutError):  # behind a slow webhook: scaling down matters more than the order
        async with asyncio.timeout(_WITHIN_SECONDS):
            await _write(api, ready, {n: c for n, c in costs.items() if c != present[n]})
    _logger.info(
        "ordered %d of %d ready replicas by what they have in work", len(costs), len(ready)
    )


async def _write(api: Api, pods: Mapping[str, KubernetesObject], costs: Mapping[str, int]) -> None:
    for name, cost in costs.items():
        metadata = pods[name]["metadata"]
        path = child_path("v1", "Pod", metadata["namespace"], name)
        # The uid makes it a conflict when another pod has the name by now.
        change = {"uid": metadata["uid"], "annotations": {DELETION_COST: str(cost)}}
        try:
            await api.merge(path, {"metadata": change})
        except (ApiError, aiohttp.ClientError) as error:
            _logger.warning("%s keeps its deletion cost: %s", path, error)


def _cost(pod: KubernetesObject) -> int:
    try:
        return int(pod["metadata"].get("annotations", {}).get(DELETION_COST, 0))
    except ValueError:
        return 0
