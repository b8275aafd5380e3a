"""Run named stages one after the other, each timed; stop at the first that fails.

`python -m e2e.stages check` is the fast part, `python -m e2e.stages test` is all that CI runs.
"""

import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from e2e.cluster import Cluster

BIN = Path(sys.executable).parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "--durations=15", "--durations-min=5")
ON_ITS_OWN = "not engine and not cluster and not long"
FAST = f"{ON_ITS_OWN} and not slow"


@dataclass(frozen=True)
class Stage:
    """One command with a name; `always` ones run even after a failure, to clean up."""

    name: str
    command: tuple[str, ...]
    always: bool = field(default=False, kw_only=True)


STATIC = (
    Stage("format", (str(BIN / "ruff"), "format", "--check", "--quiet", ".")),
    Stage("lint", (str(BIN / "ruff"), "check", "--quiet", ".")),
    Stage("types", (str(BIN / "mypy"),)),
    Stage("contracts", (str(BIN / "lint-imports"),)),
    Stage("generated files", (str(BIN / "orthrus-operator"), "generate", "--check")),
)
TOOLS = Stage("tools", (sys.executable, "-m", "e2e.cluster", "tools"))
# Without them, three minutes of building, unit tests leave the rules out.
MONITORING_TOOLS = Stage("monitoring tools", (sys.executable, "-m", "e2e.monitoring", "tools"))
UNIT = Stage("unit tests", (*PYTEST, "--numprocesses=logical", "-m", ON_ITS_OWN))
FAST_UNIT = Stage("fast unit tests", (*PYTEST, "--numprocesses=logical", "-m", FAST))
# Only the local cluster is started and stopped here; another one, of KUBECONFIG, is just used.
LOCAL = Cluster.current().local is not None
MODEL = Stage("sample model", (sys.executable, "-m", "e2e.sample_model"))
IMAGES = Stage("images", (sys.executable, "-m", "e2e.images", "build", "operator", "serving-cpu"))
ENGINE = Stage("engine tests", (*PYTEST, "-m", "engine and not long"))
UP = Stage("cluster up", (sys.executable, "-m", "e2e.cluster", "up"))
DOWN = Stage("cluster down", (sys.executable, "-m", "e2e.cluster", "down"), always=True)
# Each process has a namespace and an operator of its own, and mostly waits.
OPERATOR_TESTS = "tests/orthrus_operator"
OPERATOR = Stage(
    "operator tests",
    (*PYTEST, "--numprocesses=2", "--dist=loadfile", "-m", "cluster and not long", OPERATOR_TESTS),
)
SCENARIOS = Stage(
    "scenarios", (*PYTEST, "-m", "cluster and not long", f"--ignore={OPERATOR_TESTS}")
)
CLUSTER = (OPERATOR, SCENARIOS)
LONG = Stage("long tests", (*PYTEST, "-m", "long"))


def on_cluster(*stages: Stage) -> tuple[Stage, ...]:
    """`stages` with a cluster that runs and, when it is ours, holds this tree's images."""
    return (IMAGES, UP, *stages, DOWN) if LOCAL else stages


PLANS = {
    "check": (*STATIC, TOOLS, FAST_UNIT),
    "engine": (MODEL, ENGINE),
    "cluster": (MODEL, *on_cluster(*CLUSTER)),
    "test": (*STATIC, TOOLS, MONITORING_TOOLS, UNIT, MODEL, ENGINE, *on_cluster(*CLUSTER)),
    "long": (MODEL, *on_cluster(LONG)),
}


def run(plan: tuple[Stage, ...], console: Console) -> bool:
    """Run `plan`; print a line before and after each stage and a table at the end."""
    table = Table("stage", "result", "seconds", title="Stages")
    table.columns[2].justify = "right"
    failed = False
    for stage in plan:
        if failed and not stage.always:
            continue
        console.rule(f"[bold]{stage.name}", align="left")
        started = time.monotonic()
        ok = subprocess.run(stage.command, check=False).returncode == 0
        seconds = time.monotonic() - started
        failed |= not ok
        result = "ok" if ok else "FAILED"
        console.print(f"{stage.name}: {result} after {seconds:.1f} s")
        table.add_row(stage.name, result, f"{seconds:.1f}")
    console.print(table)
    return not failed


def main(name: Annotated[str, typer.Argument(help=f"One of {', '.join(PLANS)}.")]) -> None:
    """Run the stages of one plan."""
    if name not in PLANS:
        raise typer.BadParameter(f"no plan {name}: choose from {', '.join(PLANS)}")
    if not run(PLANS[name], Console(highlight=False)):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
