"""Figures of Iter-RetGen for people."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table

from orthrus_serving.bench.report.page import Section, render, run_sections
from orthrus_serving.bench.report.summary_table import shown
from orthrus_serving.bench.retgen.findings import Findings


def table(findings: Findings) -> Table:
    """Recall and the time of whole queries."""
    found = Table("whole queries", "value")
    found.add_row("answered", str(findings.queries))
    found.add_row("lost", str(findings.lost))
    found.add_row("per second", f"{findings.queries_per_second:.3f}")
    if findings.latency is not None:
        latency = asdict(findings.latency)
        for name in ("p50", "p90", "p99", "max"):
            found.add_row(f"seconds, {name}", shown(latency, name, "{:.2f}"))
    of = f"recall@{findings.retrieved}"
    for number, share in enumerate(findings.recall, start=1):
        times = share / findings.chance
        found.add_row(f"{of}, iteration {number}", f"{share:.3f} ({times:.0f} x chance)")
    found.add_row(f"{of} by chance", f"{findings.chance:.4f}")
    return found


def retgen_page(result: Mapping[str, Any], findings: Findings) -> str:
    """The report of one run."""
    return render(
        "orthrus bench iter-retgen",
        "Measured, not simulated: questions about real vulnerabilities, over the Common Weakness "
        "Enumeration (MITRE).",
        [Section.of_table("Whole queries", table(findings)), *run_sections(result)],
    )
