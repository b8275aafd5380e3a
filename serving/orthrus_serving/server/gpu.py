"""How busy and how full the replica's GPU is, by NVML; nothing where there is no GPU."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pynvml  # type: ignore[import-untyped]


@dataclass(frozen=True)
class GpuReading:
    """`utilization` 0-1, `memory_used` in bytes; None where NVML does not tell."""

    name: str = ""
    utilization: float | None = None
    memory_used: int | None = None


class Gpu:
    """One GPU, or none. A reading takes NVML well under a millisecond, and no CUDA context."""

    def __init__(self, name: str = "", handle: Any = None) -> None:
        self._name = name
        self._handle = handle

    @classmethod
    def of_process(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """The first GPU that CUDA shows this process: a replica uses one."""
        first = environment.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
        try:
            pynvml.nvmlInit()
            if first.isdecimal():
                handle = pynvml.nvmlDeviceGetHandleByIndex(int(first))
            else:
                handle = pynvml.nvmlDeviceGetHandleByUUID(first)
        except pynvml.NVMLError:
            return cls()
        return cls(first, handle)

    def read(self) -> GpuReading:
        if self._handle is None:
            return GpuReading()
        return GpuReading(
            self._name,
            _told(lambda: pynvml.nvmlDeviceGetUtilizationRates(self._handle).gpu / 100),
            _told(lambda: pynvml.nvmlDeviceGetMemoryInfo(self._handle).used),
        )


def _told(ask: Callable[[], Any]) -> Any:
    """None when NVML refuses: MIG slices have no utilization, and a GPU may fall off the bus."""
    try:
        return ask()
    except pynvml.NVMLError:
        return None
