"""`orthrus sim paper`: every known cell of Tables 3, 4, 5 and 10 beside its simulation."""

import argparse
from collections.abc import Sequence

from rich.table import Table

from orthrus_serving.cli.sim.output import add_output_arguments, show, table, write
from orthrus_serving.sim.paper.comparison import GOAL, RUNS, Cell, compare
from orthrus_serving.sim.paper.constants import FITTED, QUERY_LOAD, Fitted
from orthrus_serving.sim.paper.fit import fit_constants, fit_query_load
from orthrus_serving.sim.paper.iter_retgen import QueryLoad
from orthrus_serving.sim.paper.published import PUBLISHED
from orthrus_serving.sim.paper.splits import Split, compare_splits

HELP = "every known cell of the paper's Tables 3, 4, 5 and 10 beside its simulation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fit",
        action="store_true",
        help="find the constants again, which takes minutes, instead of using those of the source",
    )
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    seed = arguments.seed
    fitted = fit_constants(seed) if arguments.fit else FITTED
    load = fit_query_load(fitted, seed) if arguments.fit else QUERY_LOAD
    cells = compare(fitted, load, seed)
    splits = compare_splits(fitted, load, seed)
    results = {
        "cells": [{"cell": cell, "error": cell.error, "miss": cell.miss} for cell in cells],
        "splits": splits,
    }
    write(arguments.output, "paper", {"fitted": fitted, "query_load": load, "seed": seed}, results)
    show(arguments, _constants(fitted, load), _cells(cells), _splits(splits))


def _constants(fitted: Fitted, load: QueryLoad) -> Table:
    shown = table("Fitted constants", "constant", "value")
    shown.add_row("fixed time of a step", f"{fitted.step * 1000:.2f} ms")
    shown.add_row("front end, per token", f"{fitted.output_token * 1000:.3f} ms")
    shown.add_row("front end, per vector", f"{fitted.vector * 1000:.1f} ms")
    shown.add_row("queries in flight per GPU", str(load.queries_per_gpu))
    shown.add_row("iterations of a query", f"1 to {load.most_iterations}")
    return shown


def _cells(cells: Sequence[Cell]) -> Table:
    shown = table(
        f"Cells of the paper beside medians of {RUNS} runs",
        *("cell", "paper", "simulated", "of runs", "error", "use", "why it misses"),
    )
    shown.columns[5].justify = shown.columns[6].justify = "left"
    for cell in cells:
        shown.add_row(*_row(cell))
    predicted = [cell for cell in cells if not cell.fitted]
    misses = [cell.miss for cell in predicted if cell.miss]
    shown.caption = (
        f"{len(predicted) - len(misses)} of {len(predicted)} predictions within {GOAL:.0%}; of "
        f"{len(misses)} misses {sum(miss.explained for miss in misses)} have a reason."
    )
    return shown


def _row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.name,
        f"{cell.published:g}",
        f"{cell.simulated:.4g}",
        f"{min(cell.runs):.4g} to {max(cell.runs):.4g}",
        f"{cell.error:+.1%}",
        f"fitted: {cell.fitted}" if cell.fitted else "prediction",
        str(cell.miss or ""),
    )


def _splits(splits: Sequence[Split]) -> Table:
    shown = table(
        "Tables 3 and 4 on 4 GPUs by the split, which the paper leaves open",
        *("system", "split", "queries per s", "paper", "p99", "paper"),
    )
    for split in splits:
        throughput = PUBLISHED[f"T3 4 GPUs {split.system}"]
        p99 = PUBLISHED.get(f"T4 4 GPUs {split.system}")
        shown.add_row(
            split.system,
            ":".join(map(str, split.gpus)),
            f"{split.figures.queries_per_second:.3f}",
            f"{throughput:g}",
            f"{split.figures.p99:.1f} s",
            f"{p99:g} s" if p99 else "not in our copy",
        )
    return shown
