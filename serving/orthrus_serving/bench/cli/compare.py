"""`orthrus bench compare`."""

from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli.failure import explained


def compare(
    a: Annotated[Path, typer.Argument(help="A result, or a folder of results.")],
    b: Annotated[Path, typer.Argument(help="The other one; files of folders pair by name.")],
    output: Annotated[Path | None, typer.Option(help="Write the ratios, JSON.")] = None,
) -> None:
    """Ratios A ÷ B of every figure: median of the pairs, with a 95 % bootstrap interval."""
    from rich.console import Console

    from orthrus_serving.bench.measure import compare as pairs
    from orthrus_serving.bench.report import ratio_table

    with explained(ValueError, OSError):
        comparisons = pairs.compare(*pairs.read_pairs(a, b))
        if output is not None:
            ratio_table.write(output, comparisons)
    Console(highlight=False).print(ratio_table.table(comparisons))
