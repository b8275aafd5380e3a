"""Table 10: a light 5:5 load on one GPU while decodes get longer."""

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.lengths import Fixed
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Phase, Poisson

RATE = 0.1333
"""Requests per second: the throughput that the paper reports at 4,096 tokens. The arrivals are
not in the paper."""
_REQUESTS = 2_000


def run_long_decodes(setup: Setup, decode_tokens: int, seed: int) -> Report:
    clock = Clock()
    mix = Mix(0.5, Fixed(128), Fixed(128), Fixed(decode_tokens))
    source = Poisson([Phase(mix, RATE)], draws(seed, "work"), count=_REQUESTS)
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), source)
    simulation.run()
    return report(simulation, 0.0, clock.now)
