"""Every known cell of the paper beside its simulation."""

from collections.abc import Iterator
from dataclasses import dataclass

from orthrus_serving.sim.paper.constants import Fitted
from orthrus_serving.sim.paper.iter_retgen import QueryLoad, run_queries
from orthrus_serving.sim.paper.long_decodes import run_long_decodes
from orthrus_serving.sim.paper.misses import reason_for
from orthrus_serving.sim.paper.mixes import run_mix
from orthrus_serving.sim.paper.published import FITTED_TO, PUBLISHED
from orthrus_serving.sim.paper.systems import dedicated, disaggregated, unified

GOAL = 0.10
DECODES = (256, 512, 1024, 2048, 4096)

Found = Iterator[tuple[str, float]]


@dataclass(frozen=True)
class Cell:
    """`fitted`: the constant that was fitted to this cell, "" for a prediction. `reason`: why a
    cell misses, "" for one that does not.
    """

    name: str
    published: float
    simulated: float
    fitted: str
    reason: str

    @property
    def error(self) -> float:
        return self.simulated / self.published - 1

    @property
    def within_goal(self) -> bool:
        return abs(self.error) <= GOAL


def compare(fitted: Fitted, load: QueryLoad, seed: int) -> list[Cell]:
    """In the order of `PUBLISHED`."""
    found = dict(simulate_cells(fitted, load, seed))
    return [_cell(name, published, found[name]) for name, published in PUBLISHED.items()]


def simulate_cells(fitted: Fitted, load: QueryLoad, seed: int) -> Found:
    yield from _queries(fitted, load, seed)
    yield from _mixes(fitted, seed)
    yield from _long_decodes(fitted, seed)


def _cell(name: str, published: float, simulated: float) -> Cell:
    cell = Cell(name, published, simulated, FITTED_TO.get(name, ""), "")
    if cell.within_goal:
        return cell
    return Cell(name, published, simulated, cell.fitted, reason_for(name))


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
