"""The part of a run that is measured."""

from dataclasses import dataclass
from enum import StrEnum

from orthrus_serving.bench.client.outcome import Outcome


class By(StrEnum):
    """Which requests a window holds."""

    ENDED = "ended"
    """Those that ended in it: of a closed loop, whose next request waits for the last one."""
    PLANNED = "planned"
    """Those that were due in it, whenever they ended: of an open loop."""


@dataclass(frozen=True)
class Window:
    """Seconds after the start of a run; the end is not in it."""

    name: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start

    def holds(self, moment: float) -> bool:
        return self.start <= moment < self.end

    def holds_outcome(self, outcome: Outcome, by: By) -> bool:
        return self.holds(outcome.ended if by is By.ENDED else outcome.planned)
