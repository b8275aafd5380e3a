"""Rules: well-formed, proved by promtool, and each alert with a page for whoever it wakes."""

from pathlib import Path

import pytest
import yaml

from e2e.monitoring.generated import ROOT, RULES
from tests.monitoring.conftest import Promtool, Rule

UNIT_TESTS = sorted((Path(__file__).with_name("rules")).glob("*.yaml"))
RUNBOOKS = ROOT / "docs" / "runbooks"


def test_promtool_accepts_the_rules(promtool: Promtool) -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", UNIT_TESTS, ids=lambda path: path.stem)
def test_a_rule_does_what_its_unit_test_says(promtool: Promtool, path: Path) -> None:
    done = promtool("test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_shown_firing_and_staying_silent(alerts: list[Rule]) -> None:
    for alert in alerts:
        name = alert["alert"]
        document = yaml.safe_load((Path(__file__).with_name("rules") / f"{name}.yaml").read_text())
        checks = [check for test in document["tests"] for check in test["alert_rule_test"]]
        assert {check["alertname"] for check in checks} == {name}
        assert {bool(check["exp_alerts"]) for check in checks} == {True, False}, name


def test_every_recording_rule_has_a_unit_test(rules: list[Rule]) -> None:
    document = yaml.safe_load((Path(__file__).with_name("rules") / "recording.yaml").read_text())
    tested = " ".join(
        check["expr"] for test in document["tests"] for check in test["promql_expr_test"]
    )
    alerts = " ".join(rule["expr"] for rule in rules if "alert" in rule)
    for rule in rules:
        if "record" in rule:
            assert rule["record"] in tested + alerts


def test_every_alert_has_a_summary_a_severity_and_a_runbook(alerts: list[Rule]) -> None:
    index = (RUNBOOKS / "README.md").read_text()
    for alert in alerts:
        name = alert["alert"]
        assert alert["annotations"]["summary"]
        assert alert["labels"]["severity"] in ("warning", "critical")
        assert alert["annotations"]["runbook"] == f"docs/runbooks/{name}.md"
        assert (RUNBOOKS / f"{name}.md").read_text().startswith(f"# {name}\n")
        assert f"[{name}]({name}.md)" in index


def test_every_runbook_belongs_to_an_alert(alerts: list[Rule]) -> None:
    pages = {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"}
    assert pages == {alert["alert"] for alert in alerts}
