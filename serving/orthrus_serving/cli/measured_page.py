"""Fills a page with measured figures: `python -m orthrus_serving.cli.measured_page PAGE FOLDER`.

In the page a comment names each file of FOLDER, and its tables follow up to the next comment:

    <!-- measured acceptance/summary.json -->
    <!-- end -->

What FOLDER lacks stays as it is.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from orthrus_serving.bench.measure.ratios import Comparison
from orthrus_serving.bench.report.markdown import markdown
from orthrus_serving.bench.report.page_blocks import PageBlocks
from orthrus_serving.bench.report.ratio_table import dropped, table
from orthrus_serving.bench.report.summary_table import rates
from orthrus_serving.bench.retgen.findings import EXTRA, Findings
from orthrus_serving.bench.retgen.page import table as findings_table
from orthrus_serving.cli.sim.calibrate import cost_table, error_table
from orthrus_serving.sim.calibration import Calibration

_BLOCKS = PageBlocks("measured", r"\S+")
_FOLDER = re.compile(r"(?<![^\s=])/\S*/(?=[^\s/]+)")
_NO_VERSION = ("command", "at", "cpu", "cores", "gpus")


def filled(page: str, folder: Path) -> str:
    """The page with the tables of every file that `folder` has.

    Raises:
        ValueError: a file is no JSON of a benchmark.
    """

    def tables(name: str, kept: str) -> str:
        file = folder / name
        if not file.exists():
            return kept
        parts = "\n".join(_parts(json.loads(file.read_text())))
        return f"\n{parts}\n"

    return _BLOCKS.renewed(page, tables)


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    yield _conditions(found["environment"])
    if "held_out" in found.get("results", ()):
        calibrated = Calibration.from_json(found["results"])
        yield from map(markdown, (cost_table(calibrated), error_table(calibrated)))
        return
    if EXTRA in found:
        yield markdown(findings_table(Findings.from_json(found[EXTRA])))
        yield markdown(rates(found))
        return
    comparisons = [Comparison.from_json(each) for each in found["comparisons"]]
    yield markdown(table(comparisons))
    if medians := found.get("medians"):
        shown = Table(*medians[0])
        for row in medians:
            shown.add_row(*row.values())
        yield markdown(shown)
    lines = [*found.get("failures", ()), *dropped(comparisons), *_bounds(found.get("notes", ()))]
    if lines:
        yield "\n".join(f"- {line.splitlines()[0]}" for line in lines) + "\n"


def _bounds(notes: Sequence[str]) -> Iterator[str]:
    """In how many rounds a warm-up or a window of a system and load ended at its bound."""
    where = Counter(note.split(": ")[0].partition(", ")[2] for note in notes)
    for system_and_load, count in where.items():
        yield f"{system_and_load}: {count} bounds reached, which `summary.json` names"


def _conditions(environment: Mapping[str, Any]) -> str:
    """Who made it, when and on what; folders are of one machine only, and left out."""
    command = _FOLDER.sub("", environment["command"])
    packages = [f"{k} {v}" for k, v in environment.items() if k not in _NO_VERSION]
    return (
        f"Measured at {environment['at']} by `{command}` on {environment['cores']} cores of "
        f"{environment['cpu']}, GPUs: {environment['gpus']}; {', '.join(packages)}.\n"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("orthrus_serving.cli.measured_page", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    parsed = parser.parse_args(arguments)
    parsed.page.write_text(filled(parsed.page.read_text(), parsed.folder))


if __name__ == "__main__":
    main(sys.argv[1:])
