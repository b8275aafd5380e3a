"""What was measured, beside its goal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One number."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    """At most so much."""

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return "-"
        return "met" if self.value <= self.goal else "missed"

    def cells(self) -> tuple[str, ...]:
        goal = "-" if self.goal is None else f"at most {self.goal:g} {self.unit}".rstrip()
        return self.name, f"{_rounded(self.value)} {self.unit}".rstrip(), goal, self.verdict


def table(figures: Sequence[Figure]) -> Table:
    """A row for each."""
    shown = Table("figure", "value", "goal", "result")
    for figure in figures:
        shown.add_row(*figure.cells())
    return shown


def write(path: Path, figures: Sequence[Figure], about: Mapping[str, Any]) -> None:
    """All of them as JSON, and `about`: on what they were measured."""
    found = {**about, "figures": [asdict(each) | {"verdict": each.verdict} for each in figures]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")


def _rounded(value: float) -> str:
    """Three digits, but whole numbers whole."""
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.3g}"
