"""One engine of a system under test."""

from dataclasses import dataclass
from enum import StrEnum

from orthrus_serving.scheduling.task import Task


class Kind(StrEnum):
    """What is started."""

    ORTHRUS = "orthrus"
    GENERATE = "generate"
    """Stock vLLM that generates."""
    POOLING = "pooling"
    """Stock vLLM that embeds, by the mean."""


_TASKS = {
    Kind.ORTHRUS: frozenset(Task),
    Kind.GENERATE: frozenset({Task.GENERATION}),
    Kind.POOLING: frozenset({Task.EMBEDDING}),
}


@dataclass(frozen=True)
class Engine:
    """A process group; equal engines are the same one, which systems may share in turn."""

    kind: Kind
    devices: tuple[int, ...]
    """Indices of what it runs on."""
    flags: tuple[str, ...] = ()
    """Beyond those that all engines have."""
    share: float = 1.0
    """Of each device's memory."""

    @property
    def tasks(self) -> frozenset[Task]:
        return _TASKS[self.kind]

    @property
    def name(self) -> str:
        """For its log file."""
        flags = "".join(self.flags).replace("--", "-").replace("/", "_")
        where = "+".join(map(str, self.devices))
        half = "" if self.share == 1.0 else "-shared"
        return f"{self.kind}{flags}@{where}{half}"
