"""How large a run is."""

import math
from dataclasses import dataclass

_GPUS_PER_NODE = 64


@dataclass(frozen=True)
class Sizes:
    """Numbers of objects, and times in seconds."""

    objects: int = 500
    replicas: int = 4
    """Of each."""
    changes: int = 300
    """Of each kind."""
    rate: float = 5.0
    """Changes a second."""
    steady: float = 300.0
    polled: int = 1024
    """Replicas of the one large object."""
    looks: int = 3
    """At the metrics of all."""

    @property
    def nodes(self) -> int:
        """Fake nodes with a GPU for every replica, also for those that the changes add."""
        gpus = self.objects * self.replicas + self.changes + self.polled
        return math.ceil(gpus / _GPUS_PER_NODE)

    @property
    def gpus_per_node(self) -> int:
        return _GPUS_PER_NODE


FULL = Sizes()
SMALL = Sizes(objects=8, replicas=2, changes=8, rate=4, steady=5, polled=40, looks=1)
"""Shows that every part works; its figures say little."""
