"""Tables 3 and 4: queries that embed and generate in turn, several times each."""

from array import array
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.lengths import Exponential, Uniform
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation

# Prompts: 500 on average, 2,000 at most. Decodes: 3,000 on average, 4,000 at most. The paper says
# no more of their distributions, and nothing of the lengths of what is embedded.
PROMPTS = Exponential(500, 2000)
DECODES = Uniform(2000, 4000)
WARM_UP = 1500.0
SECONDS = 6000.0


@dataclass(frozen=True)
class QueryLoad:
    """What the paper leaves out: queries in flight for each GPU, and iterations of a query, which
    are uniform from 1 up."""

    queries_per_gpu: int
    most_iterations: int


@dataclass(frozen=True)
class QueryFigures:
    queries_per_second: float
    p99: float


@dataclass(frozen=True)
class _Iteration:
    embedding: int
    prompt: int
    decode: int


@dataclass(eq=False)
class _Query:
    """`left`: iterations to come, the next one last. All is drawn when the query begins, so that
    the work of a query is the same in every system.
    """

    started: float
    left: list[_Iteration]


class Queries:
    """A closed loop: a query that is done is followed by another."""

    def __init__(self, in_flight: int, most_iterations: int, random: Random) -> None:
        self._in_flight = in_flight
        self._most_iterations = most_iterations
        self._random = random
        self._of_request: dict[SimulatedRequest, _Query] = {}
        self.started = array("d")
        self.finished = array("d")

    def start(self, clock: Clock, submit: Told) -> None:
        self._clock, self._submit = clock, submit
        for _ in range(self._in_flight):
            self._begin()

    def answered(self, request: SimulatedRequest) -> None:
        query = self._of_request.pop(request)
        if request.task is Task.EMBEDDING:
            now = query.left.pop()
            self._send(query, SimulatedRequest(Task.GENERATION, now.prompt, now.decode))
        elif query.left:
            self._retrieve(query)
        else:
            self.started.append(query.started)
            self.finished.append(self._clock.now)
            self._begin()

    def _begin(self) -> None:
        count = self._random.randint(1, self._most_iterations)
        self._retrieve(_Query(self._clock.now, [self._draw() for _ in range(count)]))

    def _draw(self) -> _Iteration:
        embedding, prompt = PROMPTS.draw(self._random), PROMPTS.draw(self._random)
        return _Iteration(embedding, prompt, DECODES.draw(self._random))

    def _retrieve(self, query: _Query) -> None:
        self._send(query, SimulatedRequest(Task.EMBEDDING, query.left[-1].embedding, 0))

    def _send(self, query: _Query, request: SimulatedRequest) -> None:
        self._of_request[request] = query
        self._submit(request)


@cache
def run_queries(setup: Setup, load: QueryLoad, seed: int) -> QueryFigures:
    """Over the queries that end after the warm-up. Several tables ask for the same run."""
    clock = Clock()
    in_flight = load.queries_per_gpu * sum(setup.replicas)
    queries = Queries(in_flight, load.most_iterations, draws(seed, "work"))
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), queries)
    simulation.run(SECONDS)
    finished = np.asarray(queries.finished)
    counted = finished > WARM_UP
    latencies = (finished - np.asarray(queries.started))[counted]
    return QueryFigures(len(latencies) / (SECONDS - WARM_UP), float(np.percentile(latencies, 99)))
