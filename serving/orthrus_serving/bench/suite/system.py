"""Systems under test: engines that together serve both tasks, or one."""

from collections.abc import Sequence
from dataclasses import dataclass

from orthrus_serving.bench.suite.engine import Engine, Kind
from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True)
class System:
    """Requests of a task go to each engine that serves it in turn."""

    name: str
    engines: tuple[Engine, ...]

    def engines_of(self, task: Task) -> list[Engine]:
        return [engine for engine in self.engines if task in engine.tasks]


def orthrus(devices: int, name: str = "orthrus", *flags: str) -> System:
    """One replica for each device; the paper's baselines of one engine are its policies."""
    return System(name, tuple(Engine(Kind.ORTHRUS, (d,), flags) for d in range(devices)))


def policy(devices: int, batch_policy: str, name: str) -> System:
    """The paper's Unified-Hetero is `fcfs`, its Unified-Homo `homogeneous`."""
    return orthrus(devices, name, f"--batch-policy={batch_policy}")


def dedicated(devices: int, pooling: int) -> System:
    """The paper's Dedicated a:b: stock engines that embed on `pooling` devices, that generate on
    the others.

    Raises:
        ValueError: a task would have no device.
    """
    if not 0 < pooling < devices:
        raise ValueError(f"dedicated {pooling}:{devices - pooling} leaves a task without a device")
    kinds = [Kind.POOLING] * pooling + [Kind.GENERATE] * (devices - pooling)
    engines = tuple(Engine(kind, (device,)) for device, kind in enumerate(kinds))
    return System(f"dedicated {pooling}-{devices - pooling}", engines)


def only(devices: int, kind: Kind) -> System:
    """Stock engines of one task on every device: the rate of that task alone."""
    return System(f"only {kind}", tuple(Engine(kind, (device,)) for device in range(devices)))


def sharing(groups: Sequence[tuple[int, ...]]) -> System:
    """Two stock engines, one of each task, on each group of devices at the same time."""
    return System(
        "sharing",
        tuple(
            Engine(kind, group, share=0.5)
            for group in groups
            for kind in (Kind.POOLING, Kind.GENERATE)
        ),
    )
