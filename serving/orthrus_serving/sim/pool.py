"""Replicas of one kind behind a router."""

from dataclasses import dataclass
from functools import partial

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEnd, FrontEndCost
from orthrus_serving.sim.replica import Replica
from orthrus_serving.sim.replica_in_time import ReplicaInTime, Told
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.routers import Router
from orthrus_serving.sim.step_cost import StepCost


@dataclass(frozen=True)
class ReplicaKind:
    """What every replica of a pool is."""

    settings: ReplicaSettings
    cost: StepCost
    front_end: FrontEndCost


class Pool:
    """Starts with `count` replicas that are ready; more may be added, and some taken away."""

    def __init__(
        self, clock: Clock, kind: ReplicaKind, router: Router, count: int, done: Told
    ) -> None:
        self._clock = clock
        self._kind = kind
        self._router = router
        self._done = done
        self._loading: list[object] = []
        self.serving: list[ReplicaInTime] = []
        self.replicas: list[Replica] = []
        """All that ever served."""
        self.replica_seconds = 0.0
        """Time of all replicas, loading and leaving ones included, up to the last change."""
        self._changed_at = 0.0
        self._leaving = 0
        for _ in range(count):
            self._serve()

    @property
    def size(self) -> int:
        """Replicas that serve or are on their way."""
        return len(self.serving) + len(self._loading)

    @property
    def token_budget(self) -> int:
        return self._kind.settings.token_budget

    @property
    def backlog_tokens(self) -> int:
        return sum(member.replica.backlog_tokens for member in self.serving)

    def submit(self, request: SimulatedRequest) -> None:
        replica = self._router.choose(request.task)
        replica.submit(request)
        self._router.changed(replica)

    def grow(self, count: int, load_seconds: float) -> None:
        """Add replicas that receive requests after `load_seconds`."""
        self.settle_account()
        for _ in range(count):
            token = object()
            self._loading.append(token)
            self._clock.at(self._clock.now + load_seconds, partial(self._loaded, token))

    def shrink(self, count: int) -> None:
        """Take replicas away: those that still load first, then the emptiest, which finish what
        they have. At least one that serves stays."""
        self.settle_account()
        for _ in range(count):
            if self._loading:
                self._loading.pop()
            elif len(self.serving) > 1:
                self._retire(min(self.serving, key=lambda member: member.unanswered))

    def settle_account(self) -> None:
        """Bring `replica_seconds` up to now."""
        held = self.size + self._leaving
        self.replica_seconds += held * (self._clock.now - self._changed_at)
        self._changed_at = self._clock.now

    def _loaded(self, token: object) -> None:
        if token in self._loading:
            self._loading.remove(token)
            self._serve()

    def _serve(self) -> None:
        replica = Replica(self._kind.settings, self._kind.cost)
        self.replicas.append(replica)
        front_end = FrontEnd(self._kind.front_end)
        member = ReplicaInTime(self._clock, replica, front_end, self._answered)
        self.serving.append(member)
        self._router.join(member)

    def _retire(self, member: ReplicaInTime) -> None:
        self.serving.remove(member)
        self._router.leave(member)
        if member.unanswered:
            self._leaving += 1

    def _answered(self, member: ReplicaInTime, request: SimulatedRequest) -> None:
        self._router.changed(member)
        if not member.unanswered and member not in self.serving:
            self.settle_account()
            self._leaving -= 1
        self._done(request)
