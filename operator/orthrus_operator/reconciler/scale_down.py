"""Having the emptiest replicas go first, just before a Deployment shrinks."""

import logging
from collections.abc import Sequence

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.emptiness import DELETION_COST, deletion_costs
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.pod_annotations import annotate
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
    await annotate(
        api,
        [
            (ready[name], {DELETION_COST: str(cost)})
            for name, cost in costs.items()
            if cost != present[name]
        ],
    )
    _logger.info(
        "ordered %d of %d ready replicas by what they have in work", len(costs), len(ready)
    )


def _cost(pod: KubernetesObject) -> int:
    try:
        return int(pod["metadata"].get("annotations", {}).get(DELETION_COST, 0))
    except ValueError:
        return 0
