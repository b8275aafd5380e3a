"""`EngineCore.orthrus_snapshot`: what the front end pulls through an engine utility call."""

from typing import Any, Protocol, cast

from vllm.v1.engine.core import EngineCore

from orthrus_serving.scheduling.snapshot import Snapshot


class ReportsSnapshot(Protocol):
    """A scheduler that can report itself."""

    def snapshot(self) -> Snapshot: ...


def attach_snapshot_call() -> None:
    """Give the engine of this process the utility call; others stay as vLLM made them."""
    EngineCore.orthrus_snapshot = _orthrus_snapshot  # type: ignore[attr-defined]


def _orthrus_snapshot(core: EngineCore) -> dict[str, Any]:
    # A worker process that hangs while there is no step would not be missed. Without a timeout:
    # with a hung worker the engine must not answer either.
    core.model_executor.collective_rpc("check_health")
    return cast("ReportsSnapshot", core.scheduler).snapshot().to_dict()
