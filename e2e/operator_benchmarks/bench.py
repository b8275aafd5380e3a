"""What every measurement works with."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from e2e.operator_benchmarks.audit_log import Request
from e2e.operator_benchmarks.bench_cluster import BenchCluster
from e2e.operator_benchmarks.client import Client
from e2e.operator_benchmarks.mirror import Mirror
from e2e.operator_benchmarks.population import DEPLOYMENTS, ORTHRUS_DEPLOYMENTS, is_ready
from e2e.operator_benchmarks.sizes import Sizes

PATIENCE_SECONDS = 900.0
"""For what takes long on a slow machine: the figure says how long."""


@dataclass(frozen=True)
class Bench:
    """A cluster, and what is seen of it."""

    cluster: BenchCluster
    sizes: Sizes
    client: Client
    objects: Mirror
    """OrthrusDeployments."""
    deployments: Mirror

    async def asked_since(self, position: int) -> Sequence[Request]:
        """What the operator asked of the API server for its objects: neither of its Lease nor for
        the metrics."""
        requests = await asyncio.to_thread(self.cluster.audit.since, position)
        return [each for each in requests if not each.is_poll and each.resource != "leases"]

    async def settled(self, quiet: float) -> None:
        """Until all objects are ready, and the operator has written nothing for `quiet` seconds.

        Raises:
            TimeoutError: it goes on and on.
        """
        await self.objects.until(
            "all objects ready", lambda found: all(map(is_ready, found.values())), PATIENCE_SECONDS
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            position = self.cluster.audit.position()
            await asyncio.sleep(quiet)
            if not any(each.is_write for each in await self.asked_since(position)):
                return
        raise TimeoutError(f"the operator still writes after {PATIENCE_SECONDS:.0f} s")


@asynccontextmanager
async def benching(cluster: BenchCluster, sizes: Sizes) -> AsyncIterator[Bench]:
    """Watches the cluster inside the context; a watch that fails ends it."""
    url, trust = cluster.layout.api_url, cluster.trust.context()
    async with Client.connected(url, trust) as client, asyncio.TaskGroup() as group:
        mirrors = Mirror(client, ORTHRUS_DEPLOYMENTS), Mirror(client, DEPLOYMENTS)
        watches = [group.create_task(mirror.run()) for mirror in mirrors]
        yield Bench(cluster, sizes, client, *mirrors)
        for watch in watches:
            watch.cancel()
