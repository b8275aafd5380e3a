"""Where requests come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Protocol

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.request import SimulatedRequest


class Source(Protocol):
    """Sends requests from `start` on; hears of each that is answered."""

    def start(self, clock: Clock, submit: Told) -> None: ...

    def answered(self, request: SimulatedRequest) -> None: ...


@dataclass(frozen=True)
class Phase:
    """Requests of one mix at `rate` per second, for so long."""

    mix: Mix
    rate: float
    seconds: float = inf

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.seconds <= 0:
            raise ValueError(
                f"a phase of {self.rate:g} requests per second for {self.seconds:g} s: "
                "both must be above 0"
            )


class Poisson:
    """Independent arrivals, whatever the system does, phase after phase; at most `count`."""

    def __init__(self, phases: Sequence[Phase], random: Random, count: float = inf) -> None:
        self._phases = list(phases)
        self._random = random
        self._left = count

    def start(self, clock: Clock, submit: Told) -> None:
        self._clock, self._submit = clock, submit
        self._next_phase()

    def answered(self, request: SimulatedRequest) -> None:
        """Nobody waits for it."""

    def _next_phase(self) -> None:
        if self._phases:
            self._phase = self._phases.pop(0)
            self._phase_end = self._clock.now + self._phase.seconds
            self._schedule()

    def _schedule(self) -> None:
        if self._left <= 0:
            return
        moment = self._clock.now + self._random.expovariate(self._phase.rate)
        if moment <= self._phase_end:
            self._clock.at(moment, self._arrive)
        else:  # a Poisson process has no memory: the next phase starts anew
            self._clock.at(self._phase_end, self._next_phase)

    def _arrive(self) -> None:
        self._left -= 1
        self._submit(self._phase.mix.draw(self._random))
        self._schedule()


class ClosedLoop:
    """`clients` that each send their next request as soon as the last one is answered.

    At most `count` requests, none from `until` on.
    """

    def __init__(
        self, mix: Mix, clients: int, random: Random, *, count: float = inf, until: float = inf
    ) -> None:
        if clients < 1:
            raise ValueError(f"{clients} clients: at least one is needed")
        self._mix = mix
        self._clients = clients
        self._random = random
        self._left = count
        self._until = until

    def start(self, clock: Clock, submit: Told) -> None:
        self._clock, self._submit = clock, submit
        for _ in range(self._clients):
            self._send()

    def answered(self, request: SimulatedRequest) -> None:
        self._send()

    def _send(self) -> None:
        if self._left > 0 and self._clock.now < self._until:
            self._left -= 1
            self._submit(self._mix.draw(self._random))


class Burst:
    """All requests at the start, in the order given."""

    def __init__(self, requests: Sequence[SimulatedRequest]) -> None:
        self._requests = requests

    def start(self, clock: Clock, submit: Told) -> None:
        for request in self._requests:
            submit(request)

    def answered(self, request: SimulatedRequest) -> None:
        """Nobody sends another."""
