"""Tables 3 and 4 on four GPUs, by how a split system divides them, which the paper leaves open."""

from dataclasses import dataclass
from statistics import median

from orthrus_serving.sim.paper.comparison import run_seeds
from orthrus_serving.sim.paper.constants import Fitted
from orthrus_serving.sim.paper.iter_retgen import QueryFigures, QueryLoad, run_queries
from orthrus_serving.sim.paper.systems import dedicated, disaggregated

SYSTEMS = {"Dedicated": dedicated, "Disagg-PD": disaggregated}
SPLITS = ((1, 3), (2, 2), (3, 1))


@dataclass(frozen=True)
class Split:
    """Medians of the runs."""

    system: str
    gpus: tuple[int, int]
    figures: QueryFigures


def compare_splits(fitted: Fitted, load: QueryLoad, seed: int) -> list[Split]:
    found = []
    for name, make in SYSTEMS.items():
        for first, second in SPLITS:
            setup = make(fitted, first, second)
            runs = [run_queries(setup, load, run) for run in run_seeds(seed)]
            throughput = median(run.queries_per_second for run in runs)
            p99 = median(run.p99 for run in runs)
            found.append(Split(name, (first, second), QueryFigures(throughput, p99)))
    return found
