"""Asking replicas for their metrics."""

from collections.abc import Mapping

from orthrus_operator.planner.replica_sample import ReplicaSample, replica_sample
from orthrus_operator.reconciler.replica_answers import replica_answers


async def scrape(addresses: Mapping[str, str], within: float) -> dict[str, ReplicaSample]:
    """What the replicas say, by the keys of `addresses` (`http://HOST:PORT`).

    Who doesn't answer, in `within` seconds for all of them, is left out; never raises.
    """
    return await replica_answers(addresses, "/metrics", _sample, within)


def _sample(status: int, body: bytes) -> ReplicaSample:
    if status != 200:
        raise ValueError(f"status {status}")
    return replica_sample(body.decode())
