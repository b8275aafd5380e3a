"""How requests are spread over replicas."""

from itertools import count
from random import Random
from typing import Protocol

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.replica_in_time import ReplicaInTime

ROUTER_NAMES = ("random", "round-robin", "least-loaded")


class Router(Protocol):
    """Is told of every replica that may receive requests, and of every change of its load."""

    def join(self, replica: ReplicaInTime) -> None: ...

    def leave(self, replica: ReplicaInTime) -> None: ...

    def choose(self, task: Task) -> ReplicaInTime: ...

    def changed(self, replica: ReplicaInTime) -> None:
        """Its number of unanswered requests is another now."""


class _Members:
    def __init__(self) -> None:
        self.members: list[ReplicaInTime] = []

    def join(self, replica: ReplicaInTime) -> None:
        self.members.append(replica)

    def leave(self, replica: ReplicaInTime) -> None:
        self.members.remove(replica)

    def changed(self, replica: ReplicaInTime) -> None:
        """Load does not matter here."""


class RandomRouter(_Members):
    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    def choose(self, task: Task) -> ReplicaInTime:
        return self._random.choice(self.members)


class RoundRobin(_Members):
    """Each task has its own turn. With one for both, clients that embed and generate in turn
    would send all embeddings to some replicas and all generations to the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turns = {task: count() for task in Task}

    def choose(self, task: Task) -> ReplicaInTime:
        return self.members[next(self._turns[task]) % len(self.members)]


class LeastLoaded:
    """Fewest unanswered requests; of equals, the one that has had that number for longest.

    Replicas are kept by their number, so a choice among a thousand costs what one of two does.
    """

    def __init__(self) -> None:
        self._load: dict[ReplicaInTime, int] = {}
        self._by_load: dict[int, dict[ReplicaInTime, None]] = {}
        self._least = 0

    def join(self, replica: ReplicaInTime) -> None:
        self._put(replica)

    def leave(self, replica: ReplicaInTime) -> None:
        self._take(replica)

    def changed(self, replica: ReplicaInTime) -> None:
        if replica in self._load:  # one that has left still answers
            self._take(replica)
            self._put(replica)

    def choose(self, task: Task) -> ReplicaInTime:
        if self._least not in self._by_load:
            self._least = min(self._by_load)
        return next(iter(self._by_load[self._least]))

    def _put(self, replica: ReplicaInTime) -> None:
        load = replica.unanswered
        self._load[replica] = load
        self._by_load.setdefault(load, {})[replica] = None
        self._least = min(self._least, load)

    def _take(self, replica: ReplicaInTime) -> None:
        load = self._load.pop(replica)
        peers = self._by_load[load]
        del peers[replica]
        if not peers:
            del self._by_load[load]


def make_router(name: str, random: Random) -> Router:
    """Raises ValueError for a name that is not in `ROUTER_NAMES`."""
    if name == "random":
        return RandomRouter(random)
    if name == "round-robin":
        return RoundRobin()
    if name == "least-loaded":
        return LeastLoaded()
    raise ValueError(f"no router {name!r}: choose one of {', '.join(ROUTER_NAMES)}")
