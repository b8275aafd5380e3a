"""`orthrus bench compare`."""

from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared
from orthrus_serving.bench.cli.failure import explained


def compare(
    a: Annotated[Path, typer.Argument(help="A result, or a folder of results.")],
    b: Annotated[Path, typer.Argument(help="The other one; files of folders pair by name.")],
    output: declared.Output = None,
) -> None:
    """Ratios A ÷ B of every figure: median of the pairs, with a 95 % bootstrap interval.

    Results in one folder are of one load; each load has rows of its own.
    """
    from rich.console import Console

    from orthrus_serving.bench.measure.compare import compare as divide
    from orthrus_serving.bench.measure.compare import read_pairs
    from orthrus_serving.bench.report import ratio_table

    with explained(ValueError, OSError):
        paired = read_pairs(a, b)
        comparisons = divide(paired.pairs)
        if output is not None:
            ratio_table.write(output, comparisons)
    console = Console(highlight=False)
    console.print(ratio_table.table(comparisons))
    alone = (f"{name} has no partner" for name in paired.alone)
    for line in (*ratio_table.dropped(comparisons), *paired.notes, *alone):
        console.print(line, markup=False)
