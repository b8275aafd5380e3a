"""`orthrus sim calibrate`: the cost of a step from what a real replica measures."""

import argparse
import asyncio

import httpx
from rich.table import Table

from orthrus_serving.bench.load.run import UnusableServerError
from orthrus_serving.cli.sim.drive import drive
from orthrus_serving.cli.sim.options import require_positive, settings_of
from orthrus_serving.cli.sim.output import add_output_arguments, show, table, write
from orthrus_serving.cli.sim.scrape import watch_steps
from orthrus_serving.sim.calibration import Calibration, Errors, Window, calibrate

HELP = "fit the cost of a step to a real replica, and test it on steps that were held out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", help="address of a replica, such as http://localhost:8000")
    parser.add_argument("--seconds", type=float, default=160.0, help="default %(default)s")
    parser.add_argument(
        "--no-load", action="store_true", help="only watch: somebody else sends requests"
    )
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    seconds = require_positive(arguments.seconds, "--seconds")
    try:
        windows = asyncio.run(_measure(arguments, seconds))
    except ExceptionGroup as errors:
        first = _first(errors)
        if not isinstance(first, httpx.HTTPError | UnusableServerError | ValueError):
            raise
        raise ValueError(f"{arguments.url}: {first}") from errors
    found = calibrate(windows, arguments.seed)
    write(arguments.output, "calibrate", settings_of(arguments), found, simulated=False)
    show(arguments, cost_table(found), error_table(found))


async def _measure(arguments: argparse.Namespace, seconds: float) -> list[Window]:
    async with (
        httpx.AsyncClient(base_url=arguments.url, timeout=60) as client,
        asyncio.TaskGroup() as group,
    ):
        watching = group.create_task(watch_steps(client, seconds))
        if not arguments.no_load:
            group.create_task(drive(arguments.url, seconds, arguments.seed))
    return watching.result()


def _first(error: Exception) -> Exception:
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


def cost_table(found: Calibration) -> Table:
    """What a step and its tokens cost."""
    cost = found.cost
    millis = [f"{each * 1000:.3g}" for each in (cost.step, cost.chunk_token, cost.decode_token)]
    shown = table("Cost of a step", "of each", "ms", simulated=False)
    for name, value in zip(("step", "chunk token", "decode token"), millis, strict=True):
        shown.add_row(name, value)
    shown.caption = (
        f"Fitted to {found.fitted_windows} windows of about a second. For the other commands: "
        f"--linear-cost {':'.join(millis)}"
    )
    return shown


def error_table(found: Calibration) -> Table:
    """How far that cost is from what was measured, by what steps held."""
    shown = table(
        "Error of that cost in windows that were held out",
        *("windows with", "number", "median", "90th percentile", "all together"),
        simulated=False,
    )
    for kind, held_out in found.held_out.items():
        shown.add_row(kind, *_cells(held_out))
    return shown


def _cells(held_out: Errors) -> tuple[str, ...]:
    return (
        str(held_out.windows),
        f"{held_out.median:.1%}",
        f"{held_out.p90:.1%}",
        f"{held_out.total:+.1%}",
    )
