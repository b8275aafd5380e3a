"""Figures of Iter-RetGen for people."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from orthrus_serving.bench.measure.result import Result
from orthrus_serving.bench.report.page import Section, render, run_sections
from orthrus_serving.bench.retgen.findings import Findings


def write(path: Path, result: Result, findings: Findings) -> None:
    """Both in one file of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = result.to_json() | {"iter_retgen": findings.to_json()}
    path.write_text(json.dumps(found) + "\n")


def table(findings: Findings) -> Table:
    """Recall and the time of whole queries."""
    shown = Table("whole queries", "value")
    shown.add_row("answered", str(findings.queries))
    shown.add_row("lost", str(findings.lost))
    shown.add_row("per second", f"{findings.queries_per_second:.3f}")
    if findings.latency is not None:
        for name in ("p50", "p90", "p99", "max"):
            shown.add_row(f"seconds, {name}", f"{getattr(findings.latency, name):.2f}")
    of = f"recall@{findings.retrieved}"
    for number, share in enumerate(findings.recall, start=1):
        times = share / findings.chance
        shown.add_row(f"{of}, iteration {number}", f"{share:.3f} ({times:.0f} x chance)")
    shown.add_row(f"{of} by chance", f"{findings.chance:.4f}")
    return shown


def retgen_page(result: Mapping[str, Any], findings: Findings) -> str:
    """The report of one run."""
    return render(
        "orthrus bench iter-retgen",
        "Measured, not simulated: questions about real vulnerabilities, over the Common Weakness "
        "Enumeration (MITRE).",
        [Section.of_table("Whole queries", table(findings)), *run_sections(result)],
    )
