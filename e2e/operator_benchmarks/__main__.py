"""Run the operator's benchmarks: `python -m e2e.operator_benchmarks`."""

import asyncio
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from e2e.cluster import ClusterError
from e2e.cluster.progress import console
from e2e.kubectl import KubectlError
from e2e.operator_benchmarks import kwok
from e2e.operator_benchmarks.bench_cluster import bench_cluster
from e2e.operator_benchmarks.figures import Figure, table, write
from e2e.operator_benchmarks.run import measure
from e2e.operator_benchmarks.sizes import FULL, SMALL, Sizes
from orthrus_serving.bench.measure.machine import environment

_WIDTH = 130
"""Of the table, also in a file."""
SIMULATED = (
    "Simulated: nodes and pods (kwok), what replicas answer (one stand-in). Real: the control"
    " plane, on the same cores as everything else, and the operator."
)


def main(
    small: Annotated[
        bool, typer.Option("--small", help="Only show that every part works.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write the figures here, as JSON.")] = None,
) -> None:
    """Print every figure beside its goal; exit status 1 when one is missed."""
    sizes = SMALL if small else FULL
    try:
        figures = _measured(sizes, output)
    except (ClusterError, KubectlError) as error:
        console.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    shown = Console(file=sys.stdout, width=max(console.width, _WIDTH))
    shown.print(table(figures))
    shown.print(SIMULATED)
    if any(figure.verdict == "missed" for figure in figures):
        raise typer.Exit(1)


def _measured(sizes: Sizes, output: Path | None) -> list[Figure]:
    """Whatever ends a run early, what was measured by then is in the file."""
    figures: list[Figure] = []
    about = _about(sizes)

    def report(figure: Figure) -> None:
        figures.append(figure)
        console.print(" · ".join(figure.cells()), markup=False, soft_wrap=True)
        if output:
            write(output, figures, about)

    with bench_cluster(sizes) as cluster:
        asyncio.run(measure(cluster, sizes, report))
    return figures


def _about(sizes: Sizes) -> dict[str, Any]:
    return {
        "environment": {
            **environment(),
            "kwok": kwok.VERSION,
            "load average before": os.getloadavg()[0],
            "simulated": SIMULATED,
        },
        "sizes": asdict(sizes),
    }


if __name__ == "__main__":
    typer.run(main)
