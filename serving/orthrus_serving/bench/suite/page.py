"""The report of a suite: ratios, rates and latencies of every system under every load."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, median_low
from typing import Any

from matplotlib.axes import Axes

from orthrus_serving.bench.measure.ratios import Comparison
from orthrus_serving.bench.report.page import Section, render
from orthrus_serving.bench.report.plots import png
from orthrus_serving.bench.report.ratio_table import described, dropped, table
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.kept import SUMMARY
from orthrus_serving.scheduling.task import Task

_COLUMNS = (
    "load, system",
    "rounds",
    "embeddings/s",
    "generations/s",
    "embedding p50, p99 s",
    "generation p50, p99 s",
    "errors",
)


@dataclass(frozen=True)
class Conditions:
    """Under which all of a preset was measured."""

    preset: str
    settings: dict[str, Any]
    engines: Mapping[str, str]
    """Command lines by the names of engines."""


def write_report(
    folder: Path,
    environment: Mapping[str, Any],
    conditions: Conditions,
    figures: Figures,
    comparisons: Sequence[Comparison],
) -> None:
    """`summary.json`, `rates.png` and `report.html`; all figures are medians of the rounds."""
    rows = _rows(figures)
    notes = _notes(figures)
    found = {
        "preset": conditions.preset,
        "environment": dict(environment),
        "settings": conditions.settings,
        "engines": dict(conditions.engines),
        "failures": figures.failures,
        "notes": notes,
        "comparisons": [asdict(each) | described(each) for each in comparisons],
        "medians": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SUMMARY).write_text(json.dumps(found, indent=1) + "\n")
    charts = []
    if figures.found:
        chart = png(lambda axes: _bars(axes, figures))
        (folder / "rates.png").write_bytes(chart)
        charts.append(Section.of_plot("Throughput", chart))
    page = render(
        f"orthrus bench suite {conditions.preset}",
        "Measured, not simulated. All systems had the same devices and, in each round, the same "
        "requests; figures are medians of the rounds.",
        [
            Section.of_table("Ratios", table(comparisons)),
            Section.of_list("Pairs that are in no ratio", dropped(comparisons)),
            Section("Medians", _COLUMNS, rows),
            *charts,
            Section.of_list("What failed", figures.failures),
            Section.of_list("Bounds that were reached", notes),
            Section.of_mapping("Settings", conditions.settings),
            Section.of_mapping("Engines", conditions.engines),
            Section.of_mapping("Environment", environment),
        ],
    )
    (folder / "report.html").write_text(page)


def _rows(figures: Figures) -> list[tuple[str, ...]]:
    return [
        (
            f"{cell}, {system}",
            f"{len(measured)} of {figures.rounds}",
            *(f"{median(figures.rates(system, cell, task).values()):.3f}" for task in Task),
            *(_latencies(figures, system, cell, task) for task in Task),
            str(
                sum(
                    sum(of_task.errors.values())
                    for each in measured.values()
                    for of_task in each.summary.tasks.values()
                )
            ),
        )
        for (system, cell), measured in sorted(
            figures.found.items(), key=lambda item: item[0][::-1]
        )
    ]


def _latencies(figures: Figures, system: str, cell: str, task: Task) -> str:
    spreads = [s for s in figures.latencies(system, cell, task).values() if s is not None]
    tails = [s.p99 for s in spreads if s.p99 is not None]
    if not spreads:
        return "-"
    p50 = f"{median(s.p50 for s in spreads):.3f}"
    if tails:
        return f"{p50}, {median(tails):.3f}"
    return f"{p50}, n/a (n={median_low([s.count for s in spreads])})"


def _notes(figures: Figures) -> list[str]:
    return [
        f"round {number + 1}, {system}, {cell}: {note}"
        for (system, cell), measured in figures.found.items()
        for number, each in measured.items()
        for note in each.notes
    ]


def _bars(axes: Axes, figures: Figures) -> None:
    """Requests per second; a bar for each system in a group for each load."""
    cells = sorted({cell for _, cell in figures.found})
    systems = sorted({system for system, _ in figures.found})
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        measured = [n for n, cell in enumerate(cells) if (system, cell) in figures.found]
        rates = [median(figures.rates(system, cells[n]).values()) for n in measured]
        axes.bar([n + place * width for n in measured], rates, width, label=system)
    axes.set_xticks([n + 0.4 - width / 2 for n in range(len(cells))], cells)
    axes.set(ylabel="requests per second, median")
    axes.legend(fontsize="small")
    axes.grid(axis="y", alpha=0.3)
