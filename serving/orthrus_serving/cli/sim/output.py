"""Tables on the terminal, and the same figures with all settings as JSON."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from orthrus_serving.bench.measure.machine import environment
from orthrus_serving.bench.report.markdown import markdown
from orthrus_serving.sim.summary import Distribution, TaskSummary

NONE = "-"
_FILE_WIDTH = 150
"""Of a file or a pipe, which has none of its own."""


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="fixes every draw; default %(default)s")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the figures and all settings, as JSON"
    )
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")


def show(arguments: argparse.Namespace, *tables: Table) -> None:
    for each in tables:
        if arguments.markdown:
            sys.stdout.write(_titled(each))
        else:
            console = Console(file=sys.stdout, highlight=False)
            if not console.is_terminal:
                console.width = _FILE_WIDTH
            console.print(each)


def table(title: str, *columns: str, simulated: bool = True) -> Table:
    """The first column names, the others hold numbers; the title says where those are from."""
    origin = "SIMULATED" if simulated else "MEASURED"
    made = Table(title=f"{origin}: {title}", title_justify="left", caption_justify="left")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    return made


def _titled(shown: Table) -> str:
    caption = f"\n{shown.caption}\n" if shown.caption else ""
    return f"**{shown.title}**\n\n{markdown(shown)}{caption}\n"


def write(
    path: Path | None,
    command: str,
    settings: Mapping[str, Any],
    results: Any,
    *,
    simulated: bool = True,
) -> None:
    """Raises OSError when the file cannot be written."""
    if path is None:
        return
    found = {
        "simulated": simulated,
        "command": f"orthrus sim {command}",
        "orthrus": version("orthrus"),
        "settings": settings,
        "results": results,
    }
    if not simulated:
        found["environment"] = environment()
    path.write_text(json.dumps(found, default=_plain, indent=1, allow_nan=False) + "\n")


def seconds(value: float | None) -> str:
    """Three digits, in ms below a second."""
    if value is None:
        return NONE
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.4g} s"


def task_row(name: str, summary: TaskSummary) -> tuple[str, ...]:
    def of(distribution: Distribution | None) -> tuple[str, ...]:
        if distribution is None:
            return NONE, NONE, NONE
        return tuple(map(seconds, (distribution.p50, distribution.p99, distribution.max)))

    first = summary.first_output
    gap = summary.token_gap
    return (
        name,
        str(summary.requests),
        f"{summary.requests_per_second:.4g}",
        *of(summary.latency),
        seconds(first.p99 if first else None),
        seconds(gap.p50 if gap else None),
    )


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
