"""`orthrus sim paper`: every known cell of Tables 3, 4, 5 and 10 beside its simulation."""

import argparse

from orthrus_serving.cli.sim.output import add_output_arguments, show, table, write
from orthrus_serving.sim.paper.comparison import GOAL, Cell, compare
from orthrus_serving.sim.paper.constants import FITTED, QUERY_LOAD
from orthrus_serving.sim.paper.fit import fit_constants, fit_query_load

HELP = "every known cell of the paper's Tables 3, 4, 5 and 10 beside its simulation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fit",
        action="store_true",
        help="find the constants again, which takes minutes, instead of using those of the source",
    )
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    fitted = fit_constants(arguments.seed) if arguments.fit else FITTED
    load = fit_query_load(fitted, arguments.seed) if arguments.fit else QUERY_LOAD
    cells = compare(fitted, load, arguments.seed)
    settings = {"fitted": fitted, "query_load": load, "seed": arguments.seed}
    results = [{"cell": cell, "error": cell.error} for cell in cells]
    write(arguments.output, "paper", settings, results)
    constants = table("Fitted constants", "constant", "value")
    constants.add_row("fixed time of a step", f"{fitted.step * 1000:.2f} ms")
    constants.add_row("front end, per token", f"{fitted.output_token * 1000:.3f} ms")
    constants.add_row("front end, per vector", f"{fitted.vector * 1000:.1f} ms")
    constants.add_row("queries in flight per GPU", str(load.queries_per_gpu))
    constants.add_row("iterations of a query", f"1 to {load.most_iterations}")
    shown = table("Cells of the paper", "cell", "paper", "simulated", "error", "use", "reason")
    shown.columns[4].justify = shown.columns[5].justify = "left"
    for cell in cells:
        shown.add_row(*_row(cell))
    predicted = [cell for cell in cells if not cell.fitted]
    within = sum(cell.within_goal for cell in predicted)
    shown.caption = f"{within} of {len(predicted)} predictions within {GOAL:.0%}"
    show(constants, shown)


def _row(cell: Cell) -> tuple[str, ...]:
    use = f"fitted: {cell.fitted}" if cell.fitted else "prediction"
    return (
        cell.name,
        f"{cell.published:g}",
        f"{cell.simulated:.4g}",
        f"{cell.error:+.1%}",
        use,
        cell.reason,
    )
