"""From nothing to all objects ready."""

import time
from collections.abc import Sequence

from e2e.operator_benchmarks.bench import PATIENCE_SECONDS, Bench
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.population import create, is_looked_at, is_ready, names


async def desired_state(bench: Bench) -> Sequence[Figure]:
    """Objects are written as fast as the API server takes them."""
    wanted = names(bench.sizes.objects)
    position, started = bench.cluster.audit.position(), time.monotonic()
    await create(bench.client, wanted, bench.sizes.replicas)
    await bench.objects.until(
        "all children made",
        lambda found: all(is_looked_at(found.get(name)) for name in wanted),
        PATIENCE_SECONDS,
    )
    made = time.monotonic()
    await bench.objects.until(
        "all objects ready",
        lambda found: all(is_ready(found.get(name)) for name in wanted),
        PATIENCE_SECONDS,
    )
    ready = time.monotonic()
    asked = await bench.asked_since(position)
    many = f"{len(wanted)} objects of {bench.sizes.replicas} replicas"
    return [
        Figure(f"{many}: from the first write to every child made", made - started, "s"),
        Figure(f"{many}: from the first write to every replica ready", ready - started, "s"),
        Figure(f"{many}: API requests of the operator for each", len(asked) / len(wanted), ""),
    ]
