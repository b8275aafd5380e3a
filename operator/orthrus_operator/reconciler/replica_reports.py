"""What replicas said last: kept until they say something else, or are gone."""

import json
from collections.abc import Mapping

from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport
from orthrus_operator.planner.replica_sample import ReplicaSample
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.replica_answers import Question, replica_answers
from orthrus_operator.reconciler.serving_replicas import ServingReplica

_READY = Question("/ready", most_bytes=256 * 2**10)
_LONGEST_MESSAGE = 1024

Adapters = tuple[AdapterReport, ...]
Reports = Mapping[str, ReplicaReport]
"""By the uid of their pod."""


async def adapter_reports(addresses: Mapping[str, str], within: float) -> dict[str, Adapters]:
    """What the replicas say of their adapters, by the keys of `addresses` (`http://HOST:PORT`).

    Who doesn't answer, in `within` seconds for all of them, is left out; never raises.
    """
    return await replica_answers(addresses, _READY, _adapters, within)


def _adapters(_: int, body: bytes) -> Adapters:
    """Whatever the status: a replica that waits for an adapter says so with 503."""
    return tuple(
        AdapterReport(
            name=str(each["name"]),
            declaration=str(each["declaration"]),
            state=str(each["state"]),
            message=str(each["message"])[:_LONGEST_MESSAGE],
        )
        for each in json.loads(body)["adapters"]
    )


def reports_of(
    replicas: Mapping[str, ServingReplica],
    samples: Mapping[str, ReplicaSample],
    adapters: Mapping[str, Adapters],
    before: Mapping[ObjectKey, Reports],
) -> dict[ObjectKey, dict[str, ReplicaReport]]:
    """What is known of `replicas` by now: one that did not answer this time said what it said
    `before`. Of those that have nothing to say there is no report."""
    now: dict[ObjectKey, dict[str, ReplicaReport]] = {}
    for uid, replica in replicas.items():
        known = before.get(replica.owner, {}).get(uid, ReplicaReport(replica.name))
        sample = samples.get(uid)
        report = ReplicaReport(
            replica.name,
            adapters=adapters.get(uid, known.adapters),
            spaces=sample.embedding_spaces if sample and sample.embedding_spaces else known.spaces,
        )
        if replica.has_adapters or report.spaces:
            now.setdefault(replica.owner, {})[uid] = report
    return now
