"""A system under a load."""

from collections.abc import Callable
from math import inf

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.record import Records, new_records
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.sources import Source
from orthrus_serving.sim.systems import System


class Simulation:
    """Connects a source to a system and keeps the records."""

    def __init__(self, clock: Clock, make_system: Callable[[Told], System], source: Source) -> None:
        self.clock = clock
        self.records: Records = new_records()
        self.sent = 0
        self.system = make_system(self._answered)
        self._source = source

    def run(self, until: float = inf) -> None:
        """Up to that moment; without one, until nothing happens any more."""
        self._source.start(self.clock, self._submit)
        self.clock.run(until)
        for pool in self.system.pools:
            pool.settle_account()

    def _submit(self, request: SimulatedRequest) -> None:
        request.arrived = self.clock.now
        self.sent += 1
        self.system.submit(request)

    def _answered(self, request: SimulatedRequest) -> None:
        self.records[request.task].add(request)
        self._source.answered(request)
