"""`orthrus sim packing`: the paper's Table 8, and its grid."""

import argparse
from collections.abc import Sequence
from dataclasses import fields

from orthrus_serving.cli.sim.options import require_positive
from orthrus_serving.cli.sim.output import add_output_arguments, show, table, write
from orthrus_serving.sim.packing.grid import (
    ITERATIONS,
    PUBLISHED_ATOMIC,
    PUBLISHED_CHUNKED,
    Outcome,
    grid,
    pack,
)
from orthrus_serving.sim.packing.settings import LeftOut, Stated

HELP = "how full iterations are with and without chunks: the paper's Table 8"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--iterations", type=int, default=ITERATIONS, help="of each point; default %(default)s"
    )
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    iterations = int(require_positive(arguments.iterations, "--iterations"))
    fixed = pack(LeftOut(), arguments.seed, iterations)
    outcomes = [pack(point, arguments.seed, iterations) for point in grid()]
    nearest = min(outcomes, key=lambda outcome: outcome.distance)
    settings = {"stated": Stated(), "iterations": iterations, "seed": arguments.seed}
    results = {"fixed": fixed, "nearest": nearest, "grid": outcomes}
    write(arguments.output, "packing", settings, results)
    rows = table(
        "Fill of the token budget",
        *("", "atomic", "chunked", "generations per s", "embeddings per s"),
    )
    rows.add_row("paper", "8.8%", "85.7%", "93.3, 93.3", "25.5, 26.9")
    rows.add_row("settings fixed before the run", *_cells(fixed))
    rows.add_row(f"nearest of {len(outcomes)}", *_cells(nearest))
    rows.add_row("range of the grid", *_ranges(outcomes))
    rows.caption = f"nearest: {nearest.left_out}"
    inside = table(
        "Inside the range of the grid", "", "atomic 8.8%", "chunked 85.7%", "nearest point"
    )
    inside.add_row("any point", *_inside(outcomes))
    for field in fields(LeftOut):
        if field.name == "load":
            continue
        for value in dict.fromkeys(_value(each.left_out, field.name) for each in outcomes):
            part = [each for each in outcomes if _value(each.left_out, field.name) == value]
            inside.add_row(f"{field.name} {value}", *_inside(part))
    show(arguments, rows, inside)


def _cells(outcome: Outcome) -> tuple[str, ...]:
    both = (outcome.atomic, outcome.chunked)
    return (
        *(f"{each.fill:.1%}" for each in both),
        ", ".join(f"{each.generations_per_second:.1f}" for each in both),
        ", ".join(f"{each.embeddings_per_second:.1f}" for each in both),
    )


def _ranges(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    fills = ([o.atomic.fill for o in outcomes], [o.chunked.fill for o in outcomes])
    return (*(f"{min(each):.1%} to {max(each):.1%}" for each in fills), "", "")


def _inside(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Whether these points enclose the published fills, and the nearest of them to both."""
    atomic = [outcome.atomic.fill for outcome in outcomes]
    chunked = [outcome.chunked.fill for outcome in outcomes]
    near = min(outcomes, key=lambda outcome: outcome.distance)
    return (
        _says(min(atomic) <= PUBLISHED_ATOMIC <= max(atomic)),
        _says(min(chunked) <= PUBLISHED_CHUNKED <= max(chunked)),
        f"{near.atomic.fill:.1%} and {near.chunked.fill:.1%}",
    )


def _value(left_out: LeftOut, name: str) -> str:
    value = getattr(left_out, name)
    return f"{value} {left_out.load:g}" if name == "arrivals" else str(value)


def _says(inside: bool) -> str:
    return "yes" if inside else "no"
