"""One page of HTML that needs nothing else: tables and plots are in it."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.table import Table

from orthrus_serving.bench.report.plots import plots
from orthrus_serving.bench.report.summary_table import durations, rates


@dataclass(frozen=True)
class Section:
    """A table, a plot, or both."""

    name: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    image: str = ""
    """Base64 of a PNG."""

    @staticmethod
    def of_table(name: str, table: Table) -> "Section":
        """The cells of a table for a terminal."""
        columns = [[str(cell) for cell in column.cells] for column in table.columns]
        header = [str(column.header) for column in table.columns]
        return Section(name, header, list(zip(*columns, strict=True)))

    @staticmethod
    def of_list(name: str, lines: Sequence[str]) -> "Section":
        return Section(name, ("",), [(line,) for line in lines])

    @staticmethod
    def of_plot(name: str, png: bytes) -> "Section":
        return Section(name, image=base64.b64encode(png).decode())

    @staticmethod
    def of_mapping(name: str, found: Mapping[str, Any]) -> "Section":
        return Section(name, ("what", "value"), [(key, str(found[key])) for key in found])


def render(title: str, lead: str, sections: Sequence[Section]) -> str:
    environment = Environment(
        loader=PackageLoader("orthrus_serving.bench.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
    )
    page = environment.get_template("page.html.j2")
    return page.render(title=title, lead=lead, sections=sections)


def run_page(result: Mapping[str, Any]) -> str:
    """The report of one run."""
    return render(
        "orthrus bench run",
        "Measured, not simulated. Latency counts from the time at which a request was due.",
        run_sections(result),
    )


def run_sections(result: Mapping[str, Any]) -> list[Section]:
    """Tables and plots of one run, and what it was."""
    drawn = plots(result)
    notes = [Section.of_list("Notes", result["notes"])] if result["notes"] else []
    return [
        *notes,
        Section.of_table("Rates", rates(result)),
        Section.of_table("Durations", durations(result)),
        Section.of_plot("End-to-end latency", drawn["latency"]),
        Section.of_plot("Throughput over time", drawn["throughput"]),
        Section.of_plot("Mix over time", drawn["mix"]),
        Section.of_mapping("Settings", result["settings"]),
        Section.of_mapping("Environment", result["environment"]),
    ]
