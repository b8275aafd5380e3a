"""Asking replicas what became of their adapters."""

import json
from collections.abc import Sequence

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.adapter_state import AdapterReport, ReplicaReport
from orthrus_operator.reconciler.replica_address import replica_address, serves
from orthrus_operator.reconciler.replica_answers import Question, replica_answers

_READY = Question("/ready", most_bytes=256 * 2**10)
_LONGEST_MESSAGE = 1024
_WITHIN_SECONDS = 10.0


async def replica_reports(pods: Sequence[KubernetesObject]) -> tuple[ReplicaReport, ...]:
    """What each ready pod of `pods` says at /ready; never raises."""
    addresses = {pod["metadata"]["name"]: replica_address(pod) for pod in pods if serves(pod)}
    told = await replica_answers(addresses, _READY, _adapters, _WITHIN_SECONDS)
    return tuple(ReplicaReport(name, told.get(name)) for name in addresses)


def _adapters(_: int, body: bytes) -> tuple[AdapterReport, ...]:
    """Whatever the status: a replica that waits for an adapter says so with 503."""
    return tuple(
        AdapterReport(
            str(each["name"]), str(each["state"]), str(each["message"])[:_LONGEST_MESSAGE]
        )
        for each in json.loads(body)["adapters"]
    )
