"""Table 5: fixed mixes from 512 clients on four GPUs, for 180 seconds."""

from random import Random

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.lengths import Fixed
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import ClosedLoop

CLIENTS = 512
SECONDS = 180.0


def run_mix(setup: Setup, embedding_share: float, seed: int) -> Report:
    """What is answered within the 180 s counts; each client draws its next request's task."""
    random = Random(seed)  # noqa: S311
    clock = Clock()
    mix = Mix(embedding_share, Fixed(128), Fixed(128), Fixed(512))
    source = ClosedLoop(mix, CLIENTS, random, until=SECONDS)
    simulation = Simulation(clock, lambda done: setup.build(clock, random, done), source)
    simulation.run(SECONDS)
    return report(simulation, 0.0, SECONDS)
