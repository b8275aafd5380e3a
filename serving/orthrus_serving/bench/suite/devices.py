"""What engines run on: groups of cores, or GPUs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from orthrus_serving.bench.measure.machine import gpu_names
from orthrus_serving.bench.suite.engine import Engine


class Devices(Protocol):
    """The devices of one machine, which are equal."""

    @property
    def count(self) -> int: ...

    @property
    def capacity(self) -> float:
        """How many engines of full share one device holds at the same time."""

    @property
    def sharing_groups(self) -> Sequence[tuple[int, ...]]:
        """Where two engines run that share the whole machine."""

    def cores(self, engine: Engine) -> Sequence[int]:
        """Cores that an engine's processes may use."""

    def variables(self, engine: Engine) -> Mapping[str, str]:
        """Environment that keeps an engine on its devices."""

    def flags(self, engine: Engine) -> Sequence[str]:
        """What an engine here needs."""

    @property
    def remark(self) -> str:
        """What is special about engines here; for the reader of a result."""


@dataclass(frozen=True)
class CpuDevices:
    """Each device is some cores. Engines that wait cost only memory, so several stay."""

    groups: Sequence[Sequence[int]]
    kv_cache_mib: int
    capacity: float

    @property
    def count(self) -> int:
        return len(self.groups)

    @property
    def sharing_groups(self) -> Sequence[tuple[int, ...]]:
        return [tuple(range(self.count))]

    def cores(self, engine: Engine) -> Sequence[int]:
        return [core for device in engine.devices for core in self.groups[device]]

    def variables(self, engine: Engine) -> Mapping[str, str]:
        return cpu_variables(self.cores(engine))

    def flags(self, engine: Engine) -> Sequence[str]:
        kv_cache = f"--kv-cache-memory-bytes={self.kv_cache_mib << 20}"
        return ["--dtype=float32", "--enforce-eager", kv_cache]

    @property
    def remark(self) -> str:
        return (
            f"{self.count} groups of cores, {'; '.join(map(str, self.groups))}. All engines, stock "
            "vLLM's too, run in float32 and eagerly (--dtype=float32 --enforce-eager): by itself "
            "stock vLLM would take the model's dtype and compile"
        )


@dataclass(frozen=True)
class GpuDevices:
    """One GPU each. An engine fills its memory, so engines take turns."""

    count: int
    memory: float = 0.9
    capacity = 1.0

    @property
    def sharing_groups(self) -> Sequence[tuple[int, ...]]:
        return [(device,) for device in range(self.count)]

    def cores(self, engine: Engine) -> Sequence[int]:
        return sorted(os.sched_getaffinity(0))

    def variables(self, engine: Engine) -> Mapping[str, str]:
        return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, engine.devices))}

    def flags(self, engine: Engine) -> Sequence[str]:
        return [f"--gpu-memory-utilization={self.memory * engine.share:g}"]

    @property
    def remark(self) -> str:
        return f"{self.count} GPUs; engines in the model's dtype, compiled as vLLM does by itself"


def find_devices(
    count: int | None, kv_cache_mib: int, engines_per_device: int, least: int = 2
) -> Devices:
    """The GPUs, where there are any, else the cores of this process in equal groups.

    `kv_cache_mib` and `engines_per_device` are for cores only.

    Raises:
        ValueError: fewer than `count`, or fewer than `least`: systems of two engines need two.
    """
    gpus = len(gpu_names())
    cores = sorted(os.sched_getaffinity(0))
    found = gpus or len(cores)
    wanted = count or found
    if not least <= wanted <= found:
        kind = "GPUs" if gpus else "cores"
        raise ValueError(f"{wanted} devices: {least} are needed, and there are {found} {kind}")
    if gpus:
        return GpuDevices(wanted)
    size = len(cores) // wanted
    groups = [cores[start * size : (start + 1) * size] for start in range(wanted)]
    return CpuDevices(groups, kv_cache_mib, engines_per_device)


def cpu_variables(cores: Sequence[int]) -> Mapping[str, str]:
    """vLLM's CPU backend on `cores`; its threads sleep while they wait, for others to run."""
    return {
        "VLLM_CPU_OMP_THREADS_BIND": ",".join(map(str, cores)),
        "OMP_WAIT_POLICY": "passive",
    }


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Processes and threads started inside run on `cores` only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
