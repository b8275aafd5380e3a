"""Whether the memory of a process tree grows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import psutil

MAX_GROWTH_MIB_PER_10_MINUTES = 1.0
_MIB = 1 << 20


@dataclass
class MemoryUse:
    """Samples of the unique memory (USS) of one process and its descendants."""

    process: psutil.Process
    seconds: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)

    def sample(self, now: float) -> None:
        """Pages that processes share are left out: they would count once for each."""
        tree = [self.process, *self.process.children(recursive=True)]
        self.seconds.append(now)
        self.mib.append(sum(member.memory_full_info().uss for member in tree) / _MIB)

    def growth(self, after: float) -> float:
        """MiB per 10 minutes, the slope of a line through the samples from `after` (seconds) on."""
        return slope([(s, m) for s, m in zip(self.seconds, self.mib, strict=True) if s >= after])


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Of a least-squares line through (seconds, MiB), in MiB per 10 minutes."""
    seconds, mib = zip(*samples, strict=True)
    return float(np.polyfit(seconds, mib, 1)[0]) * 600
