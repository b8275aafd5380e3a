"""The report of a suite: ratios, rates and latencies of every system under every load."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes

from orthrus_serving.bench.measure.ratios import Comparison
from orthrus_serving.bench.report.page import Section, render
from orthrus_serving.bench.report.plots import png
from orthrus_serving.bench.report.ratio_table import described, table
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.scheduling.task import Task

_COLUMNS = (
    "load, system",
    "embeddings/s",
    "generations/s",
    "embedding p50, p99 s",
    "generation p50, p99 s",
    "errors",
)


def write_report(
    folder: Path,
    name: str,
    environment: Mapping[str, Any],
    figures: Figures,
    comparisons: Sequence[Comparison],
) -> None:
    """`summary.json`, `rates.png` and `report.html`; all figures are medians of the rounds."""
    rows = _rows(figures)
    chart = png(lambda axes: _bars(axes, figures))
    found = {
        "preset": name,
        "environment": dict(environment),
        "comparisons": [asdict(each) | described(each) for each in comparisons],
        "medians": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
    }
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
    (folder / "rates.png").write_bytes(chart)
    page = render(
        f"orthrus bench suite {name}",
        "Measured, not simulated. All systems had the same devices and, in each round, the same "
        "requests; figures are medians of the rounds.",
        [
            Section.of_table("Ratios", table(comparisons)),
            Section("Medians", _COLUMNS, rows),
            Section.of_plot("Throughput", chart),
            Section.of_mapping("Environment", environment),
        ],
    )
    (folder / "report.html").write_text(page)


def _rows(figures: Figures) -> list[tuple[str, ...]]:
    return [
        (
            f"{cell}, {system}",
            *(f"{median(figures.rates(system, cell, task)):.3f}" for task in Task),
            *(_latencies(figures, system, cell, task) for task in Task),
            str(sum(sum(t.errors.values()) for s in summaries for t in s.tasks.values())),
        )
        for (system, cell), summaries in sorted(
            figures.found.items(), key=lambda item: item[0][::-1]
        )
    ]


def _latencies(figures: Figures, system: str, cell: str, task: Task) -> str:
    shown = []
    for name in ("p50", "p99"):
        seconds = [s for s in figures.percentile(system, cell, task, name) if s is not None]
        shown.append(f"{median(seconds):.3f}" if seconds else "-")
    return ", ".join(shown)


def _bars(axes: Axes, figures: Figures) -> None:
    """Requests per second; a bar for each system in a group for each load."""
    cells = sorted({cell for _, cell in figures.found})
    systems = sorted({system for system, _ in figures.found})
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        measured = [n for n, cell in enumerate(cells) if (system, cell) in figures.found]
        rates = [median(figures.rates(system, cells[n])) for n in measured]
        axes.bar([n + place * width for n in measured], rates, width, label=system)
    axes.set_xticks([n + 0.4 - width / 2 for n in range(len(cells))], cells)
    axes.set(ylabel="requests per second, median")
    axes.legend(fontsize="small")
    axes.grid(axis="y", alpha=0.3)
