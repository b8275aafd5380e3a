"""The rules, and a promtool that runs them."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.monitoring.generated import RULES
from e2e.monitoring.tools import PROMETHEUS

Rule = dict[str, Any]
Promtool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def promtool() -> Promtool:
    """Runs `promtool ARGUMENTS`. `make test` builds it first; `make check` does not wait for it."""
    if not PROMETHEUS.directory.exists():
        pytest.skip("promtool is not built yet: python -m e2e.monitoring tools")
    program = PROMETHEUS.built() / "promtool"

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(program), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def rules() -> list[Rule]:
    """All rules, recording ones and alerts."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="session")
def alerts(rules: list[Rule]) -> list[Rule]:
    return [rule for rule in rules if "alert" in rule]
