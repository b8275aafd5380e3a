"""GPU metrics, over a simulated NVML where a GPU is needed: these machines have none."""

from types import SimpleNamespace
from typing import Any

import pynvml  # type: ignore[import-untyped]
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from orthrus_serving.server.collector import SnapshotCollector
from orthrus_serving.server.gpu import Gpu, GpuReading
from orthrus_serving.server.metric_table import METRICS
from tests.orthrus_serving.server.outer_app import OuterApp

UUID = "GPU-8f6d1f3e"


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Index 0 is idle; index 1 is half busy, and its name is UUID."""

    def utilization(handle: int) -> Any:
        return SimpleNamespace(gpu=50 * handle)

    def memory(handle: int) -> Any:
        return SimpleNamespace(used=1000 + handle)

    def by_uuid(uuid: str) -> int:
        if uuid != UUID:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return 1

    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", by_uuid)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUtilizationRates", utilization)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", memory)


def test_without_a_gpu_there_is_nothing_to_read() -> None:
    """The real NVML client, on a machine without its library."""
    assert Gpu.of_process({}).read() == GpuReading()


@pytest.mark.parametrize(
    ("visible", "reading"),
    [
        (None, GpuReading("0", 0.0, 1000)),
        ("1", GpuReading("1", 0.5, 1001)),
        ("1,0", GpuReading("1", 0.5, 1001)),
        (UUID, GpuReading(UUID, 0.5, 1001)),
        ("GPU-other", GpuReading()),
    ],
)
def test_the_gpu_is_the_first_that_cuda_may_see(
    two_gpus: None, visible: str | None, reading: GpuReading
) -> None:
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}

    assert Gpu.of_process(environment).read() == reading


def test_what_nvml_refuses_is_left_out_of_the_metrics(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch, outer: OuterApp
) -> None:
    """A slice of a GPU (MIG) has no utilization; the table names what stands in for it."""

    def refuse(handle: int) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetUtilizationRates", refuse)
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(outer.monitor, Gpu.of_process({}), outer.lifecycle))
    page = generate_latest(registry).decode()

    assert 'orthrus_gpu_memory_used_bytes{gpu="0"} 1000.0' in page
    assert "orthrus_gpu_utilization_ratio{" not in page
    meanings = {metric.name: metric.meaning for metric in METRICS}
    assert "a MIG slice: see orthrus_busy_ratio" in meanings["orthrus_gpu_utilization_ratio"]
    assert "orthrus_busy_ratio" in meanings
