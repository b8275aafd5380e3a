"""Ratios as a table and as a JSON file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from orthrus_serving.bench.measure.machine import environment
from orthrus_serving.bench.measure.ratios import CONFIDENCE, Comparison

_COLUMNS = ("ratio", "median", f"{CONFIDENCE:.0%} interval", "pairs", "goal", "result")


def table(comparisons: Sequence[Comparison]) -> Table:
    """A row for each ratio."""
    shown = Table(*_COLUMNS)
    for comparison in comparisons:
        shown.add_row(*cells(comparison))
    return shown


def write(path: Path, comparisons: Sequence[Comparison]) -> None:
    """Every ratio, and on what they were measured."""
    found = {
        "environment": environment(),
        "comparisons": [asdict(each) | described(each) for each in comparisons],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")


def dropped(comparisons: Sequence[Comparison]) -> list[str]:
    """A line for each row that lacks pairs: which, and why."""
    return [
        f"{each.name}, {each.meaning}, in no ratio: {'; '.join(each.dropped)}"
        for each in comparisons
        if each.dropped
    ]


def described(comparison: Comparison) -> dict[str, object]:
    """What follows from the ratios."""
    return {
        "median": comparison.median,
        "interval": comparison.interval,
        "verdict": comparison.verdict,
    }


def cells(comparison: Comparison) -> tuple[str, ...]:
    goal = "-" if comparison.goal is None else str(comparison.goal)
    median, interval = "-", "-"
    if comparison.median is not None and comparison.interval is not None:
        low, high = comparison.interval
        median, interval = f"{comparison.median:.3g}", f"{low:.3g} to {high:.3g}"
    return (
        f"{comparison.name}: {comparison.meaning}",
        median,
        interval,
        _pairs(comparison),
        goal,
        comparison.verdict,
    )


def _pairs(comparison: Comparison) -> str:
    divided = len(comparison.ratios)
    if not comparison.dropped:
        return str(divided)
    return f"{divided} of {divided + len(comparison.dropped)}"
