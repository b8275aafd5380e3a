"""The OrthrusDeployments of a run."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from e2e import readiness
from e2e.operator_benchmarks.bench_cluster import NAMESPACE
from e2e.operator_benchmarks.client import Client, Object
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.reconciler.paths import child_path, collection_path

ORTHRUS_DEPLOYMENTS = collection_path(API_VERSION, KIND, NAMESPACE)
DEPLOYMENTS = collection_path("apps/v1", "Deployment", NAMESPACE)
SERVICES = collection_path("v1", "Service", NAMESPACE)
PODS = collection_path("v1", "Pod", NAMESPACE)
_AT_ONCE = 16


def names(count: int) -> Sequence[str]:
    return [f"model-{number}" for number in range(count)]


def orthrus_path(name: str) -> str:
    return child_path(API_VERSION, KIND, NAMESPACE, name)


def orthrus(name: str, replicas: int) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {"model": {"source": "hf://org/model"}, "replicas": replicas},
    }


async def create(client: Client, wanted: Iterable[str], replicas: int) -> None:
    """One of each name, many at once."""
    await _of_each(wanted, lambda name: client.create(ORTHRUS_DEPLOYMENTS, orthrus(name, replicas)))


async def change(client: Client, wanted: Iterable[str], spec: Mapping[str, Any]) -> None:
    """The same change of the spec of each, many at once."""
    await _of_each(wanted, lambda name: client.merge(orthrus_path(name), {"spec": spec}))


async def _of_each(wanted: Iterable[str], write: Callable[[str], Awaitable[None]]) -> None:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> None:
        async with gate:
            await write(name)

    await asyncio.gather(*(one(name) for name in wanted))


def is_looked_at(found: Object | None) -> bool:
    return found is not None and readiness.is_observed(found)


def is_ready(found: Object | None) -> bool:
    return found is not None and readiness.is_ready(found)
