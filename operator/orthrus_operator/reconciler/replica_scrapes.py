"""Asking replicas for their metrics."""

from collections.abc import Mapping

from orthrus_operator.planner.replica_sample import READ_METRICS, ReplicaSample, replica_sample
from orthrus_operator.reconciler.replica_answers import Question, replica_answers

_METRICS = Question(
    "/metrics",
    # 129 names of models with their spaces are 50 kB; parsing this much takes some 50 ms.
    most_bytes=64 * 2**10,
    beginnings=tuple(name.encode() for name in READ_METRICS),
)


async def scrape(addresses: Mapping[str, str], within: float) -> dict[str, ReplicaSample]:
    """What the replicas say, by the keys of `addresses` (`http://HOST:PORT`).

    Who doesn't answer, in `within` seconds for all of them, is left out; never raises.
    """
    return await replica_answers(addresses, _METRICS, _sample, within)


def _sample(status: int, body: bytes) -> ReplicaSample:
    if status != 200:
        raise ValueError(f"status {status}")
    return replica_sample(body.decode())
