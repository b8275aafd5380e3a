"""Plots as files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_plots(folder: Path, result: Mapping[str, Any]) -> None:
    """One PNG for each plot."""
    from orthrus_serving.bench.report.plots import plots

    folder.mkdir(parents=True, exist_ok=True)
    for name, png in plots(result).items():
        (folder / f"{name}.png").write_bytes(png)
