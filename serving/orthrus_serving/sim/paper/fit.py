"""Fits the constants, each to one cell, so that every other cell is a prediction.

- `vector`: Table 5, 9:1, Dedicated, embeddings. One GPU has them all to itself and cannot keep up.
- `output_token`: Table 5, 1:9, Dedicated, generations: the most streams per GPU of any cell.
- `step`: Table 10, generation p99 at 4,096 tokens: a few streams and next to nothing else.
- the load of Tables 3 and 4: both cells of Orthrus on four GPUs.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import log

from scipy.optimize import brentq

from orthrus_serving.sim.paper.constants import Fitted
from orthrus_serving.sim.paper.iter_retgen import QueryLoad, run_queries
from orthrus_serving.sim.paper.long_decodes import run_long_decodes
from orthrus_serving.sim.paper.mixes import run_mix
from orthrus_serving.sim.paper.published import PUBLISHED
from orthrus_serving.sim.paper.systems import dedicated, unified

_ROUNDS = 2
"""The constants are found one after the other, and then again beside each other."""
_QUERIES = (40, 44, 48, 52, 56, 64)
_ITERATIONS = (5, 6, 7, 8)


def fit_constants(seed: int) -> Fitted:
    fitted = Fitted(step=0.005, output_token=0.000_1, vector=0.05)
    for _ in range(_ROUNDS):
        fitted = replace(fitted, step=_solve(_step_error(fitted, seed), 0.001, 0.015))
        fitted = replace(fitted, vector=_solve(_vector_error(fitted, seed), 0.01, 0.1))
        fitted = replace(fitted, output_token=_solve(_token_error(fitted, seed), 1e-4, 4e-4))
    return fitted


def fit_query_load(fitted: Fitted, seed: int) -> QueryLoad:
    """The load of the grid with the smallest sum of the squares of the two errors."""
    system = unified(fitted, "ibs", 4)

    def error(load: QueryLoad) -> float:
        found = run_queries(system, load, seed)
        throughput = log(found.queries_per_second / PUBLISHED["T3 4 GPUs Orthrus"])
        latency = log(found.p99 / PUBLISHED["T4 4 GPUs Orthrus"])
        return throughput * throughput + latency * latency

    return min((QueryLoad(*each) for each in product(_QUERIES, _ITERATIONS)), key=error)


def _solve(error: Callable[[float], float], low: float, high: float) -> float:
    """Where `error` is zero, to three digits."""
    return float(brentq(error, low, high, xtol=low / 1000, rtol=0.002))


def _step_error(fitted: Fitted, seed: int) -> Callable[[float], float]:
    def error(step: float) -> float:
        system = unified(replace(fitted, step=step), "ibs", 1)
        latency = run_long_decodes(system, 4096, seed).generation.latency
        return latency.p99 - PUBLISHED["T10 4096 generation p99"] if latency else 0.0

    return error


def _vector_error(fitted: Fitted, seed: int) -> Callable[[float], float]:
    def error(vector: float) -> float:
        found = run_mix(dedicated(replace(fitted, vector=vector), 1, 3), 0.9, seed)
        return found.embedding.requests_per_second - PUBLISHED["T5 9:1 Dedicated embeddings"]

    return error


def _token_error(fitted: Fitted, seed: int) -> Callable[[float], float]:
    def error(output_token: float) -> float:
        found = run_mix(dedicated(replace(fitted, output_token=output_token), 1, 3), 0.1, seed)
        return found.generation.requests_per_second - PUBLISHED["T5 1:9 Dedicated generations"]

    return error
