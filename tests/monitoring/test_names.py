"""Rules and dashboard name only metrics, labels and label values that the tables have."""

import json
import re

from e2e.monitoring.generated import DASHBOARD, ROOT
from e2e.monitoring.metrics import KNOWN, OF_OPERATOR, OF_REPLICAS, OF_TARGETS, names, selectors
from tests.monitoring.conftest import Rule

RECORDED = re.compile(r"\b(?:deployment|replica):\w+:\w+")


def expressions(rules: list[Rule]) -> list[str]:
    """All that Prometheus is asked: by rules, by panels, by the dashboard's variables."""
    dashboard = json.loads(DASHBOARD.read_text())
    panels = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])
    ]
    variables = [
        variable["query"]
        for variable in dashboard["templating"]["list"]
        if variable["type"] == "query"
    ]
    adapter = (ROOT / "manifests" / "monitoring" / "prometheus-adapter-rules.yaml").read_text()
    return [*(rule["expr"] for rule in rules), *panels, *variables, adapter]


def test_every_metric_is_in_a_table(rules: list[Rule]) -> None:
    for expression in expressions(rules):
        assert set(names(expression)) <= KNOWN.keys(), expression


def test_every_label_and_value_is_in_the_table(rules: list[Rule]) -> None:
    for expression in expressions(rules):
        for name, matchers in selectors(expression):
            for label, value in matchers:
                if label in OF_TARGETS:
                    continue
                assert label in KNOWN[name].labels, f"{name} has no label {label}: {expression}"
                wanted = set(value.split("|"))
                assert wanted <= set(KNOWN[name].labels[label]), f"{name}{{{label}={value}}}"


def test_every_recorded_name_is_recorded(rules: list[Rule]) -> None:
    recorded = {rule["record"] for rule in rules if "record" in rule}
    for expression in expressions(rules):
        assert set(RECORDED.findall(expression)) <= recorded, expression


def test_every_metric_of_the_tables_is_in_the_docs() -> None:
    for page, table in (("metrics.md", OF_REPLICAS), ("operator-metrics.md", OF_OPERATOR)):
        text = (ROOT / "docs" / page).read_text()
        assert all(f"| `{name}` | {known.kind} |" in text for name, known in table.items())
