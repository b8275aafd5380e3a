"""Cases whose answer is known without a simulation."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEndCost
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.record import Record
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Burst, ClosedLoop, Phase, Poisson, Source
from orthrus_serving.sim.systems import Unified
from tests.orthrus_serving.sim.making import COST, SETTINGS, E, G, fixed_mix, generation, pool_parts

SERVICE = 0.010
ONE_AT_A_TIME = replace(
    SETTINGS, token_budget=64, chunk_tokens=64, sequences=32, policy="fcfs", kv=KvSpace(10**6)
)
EMBEDDINGS = fixed_mix(1.0, embedding=64, prompt=1, output=1)
"""Each fills a step."""


def simulate(source: Source, cost: LinearCost, front_end: FrontEndCost | None = None) -> Simulation:
    clock = Clock()
    parts = pool_parts(clock, ONE_AT_A_TIME, cost, front_end=front_end)
    simulation = Simulation(clock, lambda done: Unified(parts, 1, done), source)
    simulation.run()
    return simulation


def latencies(record: Record) -> NDArray[np.float64]:
    return np.subtract(record.finished, record.arrived)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_embeddings_that_fill_a_step_wait_as_in_an_m_d_1_queue(load: float) -> None:
    source = Poisson([Phase(EMBEDDINGS, load / SERVICE)], Random(1), count=6_000)  # noqa: S311
    found = latencies(simulate(source, LinearCost(SERVICE, 0.0, 0.0)).records[E])
    expected = SERVICE + load * SERVICE / (2 * (1 - load))
    assert found.min() == pytest.approx(SERVICE)
    assert found.mean() == pytest.approx(expected, rel=0.06)


def test_a_front_end_that_is_slower_than_the_engine_is_the_queue() -> None:
    load, vector = 0.6, 0.02
    source = Poisson([Phase(EMBEDDINGS, load / vector)], Random(2), count=6_000)  # noqa: S311
    cost = LinearCost(0.000_1, 0.0, 0.0)
    found = latencies(simulate(source, cost, FrontEndCost(vector=vector)).records[E])
    expected = vector + load * vector / (2 * (1 - load))
    assert found.mean() == pytest.approx(expected, rel=0.06)


def test_a_lone_generation_takes_its_prompt_and_a_step_for_each_further_token() -> None:
    record = simulate(Burst([generation(50, 21)]), COST).records[G]
    prompt, decode = COST.step + 50 * COST.chunk_token, COST.step + COST.decode_token
    assert record.first_output[0] == pytest.approx(prompt)
    assert record.finished[0] == pytest.approx(prompt + 20 * decode)


def test_a_closed_loop_keeps_its_clients_busy() -> None:
    """Little's law: clients = throughput x latency."""
    mix = fixed_mix(0.5, embedding=40, prompt=40, output=20)
    simulation = simulate(ClosedLoop(mix, 8, Random(3), count=2_000), COST)  # noqa: S311
    waited = sum(latencies(record).sum() for record in simulation.records.values())
    assert waited / simulation.clock.now == pytest.approx(8, rel=0.01)


def test_time_is_the_sum_of_all_steps_when_there_is_always_work() -> None:
    mix = fixed_mix(0.5, embedding=40, prompt=40, output=20)
    simulation = simulate(ClosedLoop(mix, 8, Random(3), count=500), COST)  # noqa: S311
    totals = simulation.system.pools[0].replicas[0].totals
    answered = {task: len(record.finished) for task, record in simulation.records.items()}
    assert totals.chunk_tokens == 40 * 500
    assert totals.decode_tokens == 19 * answered[G]
    expected = (
        totals.steps * COST.step
        + totals.chunk_tokens * COST.chunk_token
        + totals.decode_tokens * COST.decode_token
    )
    assert totals.busy_seconds == pytest.approx(expected)
    assert simulation.clock.now == pytest.approx(expected)
