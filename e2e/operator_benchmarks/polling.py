"""One object with very many replicas, asked for their metrics."""

import asyncio
import time
from collections.abc import Sequence
from statistics import median

from e2e.operator_benchmarks.bench import PATIENCE_SECONDS, Bench
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.population import PODS, create, is_ready
from e2e.operator_benchmarks.scrapes import Look, looks
from orthrus_operator.api.group import DEPLOYMENT_LABEL

_NAME = "large"


async def polling(bench: Bench) -> Sequence[Figure]:
    """Replicas are kwok's, which answer nothing: a stand-in answers for all of them, with what a
    real one has shown.

    Raises:
        RuntimeError: the operator does not count them all as answering.
    """
    operator, wanted = bench.cluster.operator, bench.sizes.polled
    await create(bench.client, [_NAME], wanted)
    await bench.objects.until(
        f"{wanted} replicas ready", lambda found: is_ready(found.get(_NAME)), PATIENCE_SECONDS
    )
    pods, _ = await bench.client.list(PODS, f"{DEPLOYMENT_LABEL}={_NAME}")
    addresses = frozenset(str(pod["status"]["podIP"]) for pod in pods)
    await bench.settled(quiet=min(5.0, bench.sizes.steady))
    ready, cpu = time.monotonic(), operator.cpu_seconds()
    found = await _looks_since(bench, ready)
    used = operator.cpu_seconds() - cpu
    took = time.monotonic() - ready
    counted = operator.replicas(_NAME, "answering")
    if counted != wanted or any(not addresses <= look.addresses for look in found):
        raise RuntimeError(f"of {wanted} replicas {counted} count as answering")
    everyone = median(len(look.addresses) for look in found)
    what = f"metrics of {wanted} replicas of one object, {everyone:.0f} replicas in all"
    return [
        Figure(f"{what}: a look, from first to last", median(look.seconds for look in found), "s"),
        Figure(f"{what}: CPU of the operator", used / took, "cores"),
        Figure("memory of the operator at its highest", operator.highest_memory_mb(), "MB", 400),
    ]


async def _looks_since(bench: Bench, moment: float) -> Sequence[Look]:
    """Some that began after `moment`."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        over = await asyncio.to_thread(looks, bench.cluster.scrapes, time.monotonic())
        found = [look for look in over if look.started > moment]
        if len(found) >= bench.sizes.looks:
            return found
        await asyncio.sleep(1)
    raise TimeoutError("the operator does not ask replicas for their metrics")
