"""An operator that was away while every object changed."""

import asyncio
import time
from collections.abc import Sequence

from e2e.operator_benchmarks.bench import PATIENCE_SECONDS, Bench
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.population import SERVICES, change, is_looked_at, names

_PORT = 8081


async def restart(bench: Bench) -> Sequence[Figure]:
    """Of each object another field changes; of a Service, so that no pod is replaced.

    Raises:
        RuntimeError: it says that it has caught up, and has not.
    """
    wanted, operator = names(bench.sizes.objects), bench.cluster.operator
    await asyncio.to_thread(operator.stop)
    await change(bench.client, wanted, {"service": {"port": _PORT}})
    started = await asyncio.to_thread(operator.start)
    await bench.objects.until(
        "all changes caught up",
        lambda found: all(is_looked_at(found.get(name)) for name in wanted),
        PATIENCE_SECONDS,
    )
    took = time.monotonic() - started
    services, _ = await bench.client.list(SERVICES)
    late = [each for each in services if each["spec"]["ports"][0]["port"] != _PORT]
    if late:
        raise RuntimeError(f"{len(late)} Services have their former port")
    what = f"restart, {len(wanted)} objects changed meanwhile: from start to all caught up"
    return [Figure(what, took, "s", 60)]
