"""All measurements, one after the other, on one population."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from e2e.cluster.progress import step
from e2e.operator_benchmarks.bench import Bench, benching
from e2e.operator_benchmarks.bench_cluster import BenchCluster
from e2e.operator_benchmarks.change_latency import ROLLOUT, SCALE, change_latency
from e2e.operator_benchmarks.desired_state import desired_state
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.polling import polling
from e2e.operator_benchmarks.restart import restart
from e2e.operator_benchmarks.sizes import Sizes
from e2e.operator_benchmarks.steady_state import steady_state

Measurement = Callable[[Bench], Awaitable[Sequence[Figure]]]

MEASUREMENTS: dict[str, Measurement] = {
    "desired state": desired_state,
    "steady state": steady_state,
    "changes of scale": partial(change_latency, kind=SCALE),
    "changes of image": partial(change_latency, kind=ROLLOUT),
    "restart": restart,
    "polling": polling,
}
"""In this order: each begins with what the one before has left."""


async def measure(cluster: BenchCluster, sizes: Sizes, report: Callable[[Figure], None]) -> None:
    """Starts the operator, and reports each figure as soon as it is known."""
    cluster.operator.start()
    async with benching(cluster, sizes) as bench:
        for name, measurement in MEASUREMENTS.items():
            with step(f"Measure: {name}"):
                found = await measurement(bench)
            for figure in found:
                report(figure)
