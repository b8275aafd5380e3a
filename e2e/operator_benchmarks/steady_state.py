"""Nothing changes: the operator must not write."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence

from e2e.cluster.progress import console
from e2e.operator_benchmarks.bench import Bench
from e2e.operator_benchmarks.figures import Figure


async def steady_state(bench: Bench) -> Sequence[Figure]:
    operator, seconds = bench.cluster.operator, bench.sizes.steady
    # Longer than the time between two looks for the metrics, and any delayed retry.
    await bench.settled(quiet=min(20.0, seconds))
    position, started, cpu = (
        bench.cluster.audit.position(),
        time.monotonic(),
        operator.cpu_seconds(),
    )
    await asyncio.sleep(seconds)
    took, used = time.monotonic() - started, operator.cpu_seconds() - cpu
    asked = bench.cluster.audit.since(position)
    writes = [each for each in asked if each.is_write]
    for (verb, resource), count in Counter((each.verb, each.resource) for each in writes).items():
        console.print(f"steady state: {count} x {verb} {resource}")
    return [
        Figure(f"steady state: writes in {took:.0f} s, without Lease renewals", len(writes), "", 0),
        Figure("steady state: API requests, Lease and metrics included", len(asked) / took, "/s"),
        Figure("steady state: CPU of the operator", used / took, "cores"),
        Figure("steady state: memory of the operator", operator.memory_mb(), "MB", 400),
    ]
