"""Table 5: fixed mixes from 512 clients on four GPUs, sent for 180 seconds."""

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.lengths import Fixed
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import ClosedLoop

CLIENTS = 512
SECONDS = 180.0


def run_mix(setup: Setup, embedding_share: float, seed: int) -> Report:
    """Over everything that was sent, up to the last answer: the paper calls the 180 s a
    "submission window" (A.4). Each client draws its next request's task.
    """
    clock = Clock()
    mix = Mix(embedding_share, Fixed(128), Fixed(128), Fixed(512))
    source = ClosedLoop(mix, CLIENTS, draws(seed, "work"), until=SECONDS)
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), source)
    simulation.run()
    return report(simulation, 0.0, clock.now)
