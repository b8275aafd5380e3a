"""A system as settings, and its construction."""

from dataclasses import dataclass
from typing import Literal

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.system_parts import PoolParts
from orthrus_serving.sim.systems import Dedicated, Disaggregated, System, Unified

Layout = Literal["unified", "dedicated", "disaggregated"]


@dataclass(frozen=True)
class Setup:
    """`replicas`: one number when unified; embedding and generating ones when dedicated; ones
    for prompts and embeddings and ones for decodes when disaggregated.

    `kv_seconds_per_token`: how long the keys and values of a token travel between the latter.

    Raises ValueError when the numbers do not suit the layout.
    """

    layout: Layout
    replicas: tuple[int, ...]
    kind: ReplicaKind
    router: str = "round-robin"
    kv_seconds_per_token: float = 0.0

    def __post_init__(self) -> None:
        expected = 1 if self.layout == "unified" else 2
        if len(self.replicas) != expected or min(self.replicas) < 1:
            numbers = "one number" if expected == 1 else "two numbers, as in 1:3,"
            raise ValueError(
                f"the layout {self.layout} takes {numbers} of at least 1 replica, "
                f"not {':'.join(map(str, self.replicas))}"
            )

    def build(self, clock: Clock, seed: int, done: Told) -> System:
        make_pool = PoolParts(clock, self.kind, self.router, draws(seed, "router"))
        first, last = self.replicas[0], self.replicas[-1]
        if self.layout == "unified":
            return Unified(make_pool, first, done)
        if self.layout == "dedicated":
            return Dedicated(make_pool, first, last, done)
        return Disaggregated(
            clock, make_pool, first, last, done, seconds_per_token=self.kv_seconds_per_token
        )
