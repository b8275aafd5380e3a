"""From the write of a spec to the child's new desired spec, as a watch shows it."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from e2e.operator_benchmarks.bench import PATIENCE_SECONDS, Bench
from e2e.operator_benchmarks.client import Object
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.population import names, orthrus_path
from orthrus_serving.bench.measure.spread import spread


@dataclass(frozen=True)
class Kind:
    """A kind of change: of the spec of an object, the `number`-th of a run, and how its Deployment
    shows it."""

    name: str
    spec: Callable[[Object, int], Mapping[str, Any]]
    shown: Callable[[Object, Mapping[str, Any]], bool]


SCALE = Kind(
    "one replica more",
    lambda found, _: {"replicas": found["spec"]["replicas"] + 1},
    lambda deployment, spec: bool(deployment["spec"]["replicas"] == spec["replicas"]),
)
ROLLOUT = Kind(
    "another image",
    lambda _, number: {"image": {"tag": f"change-{number}"}},
    lambda deployment, spec: bool(
        deployment["spec"]["template"]["spec"]["containers"][0]["image"].endswith(
            f":{spec['image']['tag']}"
        )
    ),
)


class _Stopwatch:
    """Times each change until the Deployment of its name shows it."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._waiting: dict[str, tuple[float, Mapping[str, Any]]] = {}
        self.seconds: list[float] = []

    def start(self, name: str, spec: Mapping[str, Any]) -> None:
        self._waiting[name] = time.monotonic(), spec

    def saw(self, deployment: Object) -> None:
        name = deployment["metadata"]["name"]
        if name in self._waiting and self._kind.shown(deployment, self._waiting[name][1]):
            self.seconds.append(time.monotonic() - self._waiting.pop(name)[0])


async def change_latency(bench: Bench, kind: Kind) -> Sequence[Figure]:
    """An open loop: a change is due at its time, however slow the one before."""
    sizes, operator, audit = bench.sizes, bench.cluster.operator, bench.cluster.audit
    # A name comes again only when its last change must have been seen.
    wanted = list(islice(cycle(names(sizes.objects)), sizes.changes))
    stopwatch = _Stopwatch(kind)
    bench.deployments.listener = stopwatch.saw
    position, started, cpu = audit.position(), time.monotonic(), operator.cpu_seconds()
    async with asyncio.TaskGroup() as writes:
        for number, name in enumerate(wanted):
            await asyncio.sleep(max(0.0, started + number / sizes.rate - time.monotonic()))
            spec = kind.spec(bench.objects.objects[name], number)
            stopwatch.start(name, spec)
            writes.create_task(bench.client.merge(orthrus_path(name), {"spec": spec}))
    took, used = time.monotonic() - started, operator.cpu_seconds() - cpu
    await bench.deployments.until(
        f"all changes ({kind.name}) seen",
        lambda _: len(stopwatch.seconds) == sizes.changes,
        PATIENCE_SECONDS,
    )
    bench.deployments.listener = None
    await bench.settled(quiet=min(5.0, sizes.steady))
    asked = await bench.asked_since(position)
    seen = spread(stopwatch.seconds)
    assert seen, "there were changes"
    p99 = seen.p99
    what = f"{kind.name}, {sizes.rate:g} changes/s, {sizes.changes} of them"
    return [
        Figure(f"{what}: write to new desired spec, p50", seen.p50, "s"),
        # A small run has too few changes for one.
        *([Figure(f"{what}: write to new desired spec, p99", p99, "s", 1)] if p99 else []),
        Figure(
            f"{what}: API requests for each change, until all is still", len(asked) / seen.count, ""
        ),
        Figure(f"{what}: CPU of the operator", used / took, "cores"),
    ]
