"""Asking replicas what became of their adapters."""

import asyncio
from collections.abc import Sequence
from typing import Any

import aiohttp

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.adapter_state import AdapterReport, ReplicaReport
from orthrus_operator.reconciler.replica_address import replica_address, serves

_AT_ONCE = 16
_TIMEOUT = aiohttp.ClientTimeout(total=3)


async def replica_reports(pods: Sequence[KubernetesObject]) -> tuple[ReplicaReport, ...]:
    """What each ready pod of `pods` says at /ready; never raises."""
    ready = [pod for pod in pods if serves(pod)]
    if not ready:
        return ()
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(pod: KubernetesObject) -> ReplicaReport:
        async with gate:
            return ReplicaReport(pod["metadata"]["name"], await _adapters(client, pod))

    async with aiohttp.ClientSession(timeout=_TIMEOUT) as client:
        return tuple(await asyncio.gather(*(ask(pod) for pod in ready)))


async def _adapters(
    client: aiohttp.ClientSession, pod: KubernetesObject
) -> tuple[AdapterReport, ...] | None:
    try:
        async with client.get(f"{replica_address(pod)}/ready", allow_redirects=False) as answer:
            body: Any = await answer.json()
            return tuple(
                AdapterReport(str(each["name"]), str(each["state"]), str(each["message"]))
                for each in body["adapters"]
            )
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError):
        return None
