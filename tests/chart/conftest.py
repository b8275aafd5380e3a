"""Real helm, and the chart rendered with each set of values."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from e2e.cluster.tools import tool
from tests.chart.objects import CHART, MINIMAL, VALUE_SETS, Helm, Object, Render, load


@pytest.fixture(scope="session")
def helm() -> Helm:
    """Runs `helm ARGUMENTS` and returns what came of it, success or not."""
    program = tool("helm")

    @cache
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def render(helm: Helm) -> Render:
    """The objects of release `rel` in namespace `ns`; `overrides` are `--set` arguments."""

    def objects(values: Path = MINIMAL, *overrides: str, namespace: str = "ns") -> list[Object]:
        settings = [f"--set={override}" for override in overrides]
        place = (f"--namespace={namespace}", f"--values={values}")
        done = helm("template", "rel", str(CHART), *place, *settings)
        assert done.returncode == 0, done.stderr
        return load(done.stdout)

    return objects


@pytest.fixture(params=VALUE_SETS, ids=lambda path: path.stem)
def values(request: pytest.FixtureRequest) -> Path:
    """Each set of values under `ci/`."""
    path: Path = request.param
    return path
