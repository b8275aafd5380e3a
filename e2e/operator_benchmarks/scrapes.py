"""When the operator asked which replica for its metrics, as the stand-in noted it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAUSE_SECONDS = 3.0
"""What is longer lies between two looks: one begins every 15 seconds."""


@dataclass(frozen=True)
class Look:
    """The scrapes of one look at everything."""

    started: float
    ended: float
    addresses: frozenset[str]

    @property
    def seconds(self) -> float:
        return self.ended - self.started


def looks(log: Path, now: float) -> Sequence[Look]:
    """All that are over by `now`, in their order."""
    found = (
        Look(each[0][0], each[-1][0], frozenset(address for _, address in each))
        for each in _bursts(log.read_text())
    )
    return [look for look in found if now - look.ended > _PAUSE_SECONDS]


def _bursts(text: str) -> Iterator[list[tuple[float, str]]]:
    burst: list[tuple[float, str]] = []
    for line in text.splitlines():
        moment, address = line.split()
        at = float(moment)
        if burst and at - burst[-1][0] > _PAUSE_SECONDS:
            yield burst
            burst = []
        burst.append((at, address))
    if burst:
        yield burst
