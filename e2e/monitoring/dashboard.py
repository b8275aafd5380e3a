"""The Grafana dashboard, built from the questions in `panels.py` and the metric table."""

import itertools
import json
import string

from grafana_foundation_sdk.builders.common import StackingConfig, VizLegendOptions
from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DatasourceVariable,
    QueryVariable,
    Row,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel as TimeSeries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    StackingMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    VariableRefresh,
    VariableSort,
)

from e2e.monitoring.metrics import KNOWN, names
from e2e.monitoring.panels import QUESTIONS, Panel

UID = "orthrus"
_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_COLUMNS = 24
_MOST_ABREAST = 4
_HEIGHT = 8
# What there is one of for each replica that serves.
_PRESENCE = "orthrus_backlog_tokens"


def dashboard() -> str:
    """The dashboard as the JSON that Grafana imports."""
    builder = (
        Dashboard("Orthrus")
        .uid(UID)
        .tags(["orthrus"])
        .time("now-1h", "now")
        .refresh("30s")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .readonly()
        .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_variable("namespace", f"label_values({_PRESENCE}, namespace)"))
        .with_variable(
            _variable("name", f'label_values({_PRESENCE}{{namespace=~"$namespace"}}, name)')
        )
    )
    numbers = itertools.count(1)
    for question in QUESTIONS:
        builder.with_row(Row(question.title).id(next(numbers)))
        width = max(_COLUMNS // len(question.panels), _COLUMNS // _MOST_ABREAST)
        for panel in question.panels:
            builder.with_panel(_panel(panel).id(next(numbers)).span(width).height(_HEIGHT))
    built = builder.build()
    return json.dumps(built, cls=JSONEncoder, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _variable(name: str, query: str) -> QueryVariable:
    return (
        QueryVariable(name)
        .query(query)
        .datasource(_SOURCE)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".+")
    )


def _panel(panel: Panel) -> TimeSeries:
    chart = (
        TimeSeries()
        .title(panel.title)
        .description(KNOWN[names(panel.queries[0].expression)[0]].meaning)
        .datasource(_SOURCE)
        .unit(panel.unit)
        .min(0)
        .fill_opacity(30 if panel.stacked else 0)
        .legend(
            VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
        )
    )
    if panel.unit == "percentunit":
        chart.max(1)
    if panel.stacked:
        chart.stacking(StackingConfig().mode(StackingMode.NORMAL))
    for letter, query in zip(string.ascii_uppercase, panel.queries, strict=False):
        chart.with_target(
            Dataquery()
            .ref_id(letter)
            .expr(query.expression)
            .legend_format(query.legend)
            .datasource(_SOURCE)
        )
    return chart
