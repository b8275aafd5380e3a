"""Having the emptiest replicas go first, just before a Deployment shrinks."""

import logging
from collections.abc import Sequence

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
    costs = deletion_costs(await scrape(addresses, _WITHIN_SECONDS))
    for name, cost in costs.items():
        metadata = ready[name]["metadata"]
        if metadata.get("annotations", {}).get(DELETION_COST) == str(cost):
            continue
        path = child_path("v1", "Pod", metadata["namespace"], name)
        # The uid makes it a conflict when another pod has the name by now.
        change = {"uid": metadata["uid"], "annotations": {DELETION_COST: str(cost)}}
        try:
            await api.merge(path, {"metadata": change})
        except (ApiError, aiohttp.ClientError) as error:
            _logger.warning("%s keeps its deletion cost: %s", path, error)
    _logger.info(
        "ordered %d of %d ready replicas by what they have in work", len(costs), len(ready)
    )
