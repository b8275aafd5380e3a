"""Every known cell of the paper beside its simulation."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from orthrus_serving.sim.paper.constants import Fitted
from orthrus_serving.sim.paper.iter_retgen import QueryLoad, run_queries
from orthrus_serving.sim.paper.long_decodes import run_long_decodes
from orthrus_serving.sim.paper.misses import Miss, miss_of
from orthrus_serving.sim.paper.mixes import run_mix
from orthrus_serving.sim.paper.published import FITTED_TO, PUBLISHED
from orthrus_serving.sim.paper.systems import dedicated, disaggregated, unified

GOAL = 0.10
RUNS = 3
"""The paper's figures are medians of three runs (5.1), and so are these."""
DECODES = (256, 512, 1024, 2048, 4096)

Found = Iterator[tuple[str, float]]


@dataclass(frozen=True)
class Cell:
    """`simulated`: the median of `runs`. `fitted`: the constant that was fitted to this cell, ""
    for a prediction.
    """

    name: str
    published: float
    simulated: float
    runs: tuple[float, ...]
    fitted: str

    @property
    def error(self) -> float:
        return self.simulated / self.published - 1

    @property
    def miss(self) -> Miss | None:
        return None if abs(self.error) <= GOAL else miss_of(self.name)


def compare(fitted: Fitted, load: QueryLoad, seed: int) -> list[Cell]:
    """In the order of `PUBLISHED`."""
    runs = [dict(simulate_cells(fitted, load, run)) for run in run_seeds(seed)]
    return [_cell(name, tuple(run[name] for run in runs)) for name in PUBLISHED]


def run_seeds(seed: int) -> range:
    """Other seeds share none of them."""
    return range(RUNS * seed, RUNS * (seed + 1))


def _cell(name: str, runs: tuple[float, ...]) -> Cell:
    return Cell(name, PUBLISHED[name], median(runs), runs, FITTED_TO.get(name, ""))


def simulate_cells(fitted: Fitted, load: QueryLoad, seed: int) -> Found:
    yield from _queries(fitted, load, seed)
    yield from _mixes(fitted, seed)
    yield from _long_decodes(fitted, seed)


def _queries(fitted: Fitted, load: QueryLoad, seed: int) -> Found:
    systems = {
        "1 GPU Orthrus": unified(fitted, "ibs", 1),
        "1 GPU Unified-Homo": unified(fitted, "homogeneous", 1),
        "2 GPUs Orthrus": unified(fitted, "ibs", 2),
        "2 GPUs Disagg-PD": disaggregated(fitted, 1, 1),
        "4 GPUs Orthrus": unified(fitted, "ibs", 4),
        "4 GPUs Disagg-PD": disaggregated(fitted, 1, 3),
        "4 GPUs Unified-Homo": unified(fitted, "homogeneous", 4),
        "4 GPUs Dedicated": dedicated(fitted, 1, 3),
    }
    for name, system in systems.items():
        figures = run_queries(system, load, seed)
        yield f"T3 {name}", figures.queries_per_second
        yield f"T4 {name}", figures.p99


def _mixes(fitted: Fitted, seed: int) -> Found:
    systems = {"Dedicated": dedicated(fitted, 1, 3), "Orthrus": unified(fitted, "ibs", 4)}
    for mix, share in {"9:1": 0.9, "5:5": 0.5, "1:9": 0.1}.items():
        for name, system in systems.items():
            found = run_mix(system, share, seed)
            yield f"T5 {mix} {name} embeddings", found.embedding.requests_per_second
            yield f"T5 {mix} {name} generations", found.generation.requests_per_second


def _long_decodes(fitted: Fitted, seed: int) -> Found:
    system = unified(fitted, "ibs", 1)
    medians, tails = [], []
    for tokens in DECODES:
        found = run_long_decodes(system, tokens, seed)
        if found.generation.latency and found.embedding.latency:
            yield f"T10 {tokens} generation p99", found.generation.latency.p99
            medians.append(found.embedding.latency.p50)
            tails.append(found.embedding.latency.p99)
    for name, values in {"p50": medians, "p99": tails}.items():
        yield f"T10 embedding {name}, lowest", min(values)
        yield f"T10 embedding {name}, highest", max(values)
