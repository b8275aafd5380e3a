"""Makes the pools of a system."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.pool import Pool, ReplicaKind
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.routers import make_router

PoolMaker = Callable[[int, Told], Pool]


@dataclass(frozen=True)
class PoolParts:
    """Calling it makes a pool of that many replicas of one kind behind a router of its own."""

    clock: Clock
    kind: ReplicaKind
    router: str
    random: Random

    def __call__(self, count: int, done: Told) -> Pool:
        return Pool(self.clock, self.kind, make_router(self.router, self.random), count, done)
