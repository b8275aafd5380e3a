"""The presets of one call, one after the other on the same fleet."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from orthrus_serving.bench.measure.machine import environment
from orthrus_serving.bench.report.ratio_table import table
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.launch import launch
from orthrus_serving.bench.suite.page import write_report
from orthrus_serving.bench.suite.preset import Plan, Setting
from orthrus_serving.bench.suite.presets import PRESETS
from orthrus_serving.bench.suite.runner import run_rounds


def run_suite(
    names: Sequence[str], setting: Setting, rounds: int, output: Path, console: Console
) -> None:
    """Runs presets; writes and prints what came of each.

    Raises:
        ValueError: there is no such preset.
        EngineStartError: an engine cannot be started.
        UnusableServerError: one cannot be measured.
    """
    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise ValueError(f"no preset {', '.join(unknown)}: choose from {', '.join(PRESETS)}")
    plans = {name: PRESETS[name](setting) for name in names}
    minutes = rounds * sum(plan.seconds for plan in plans.values()) / 60
    console.print(f"about {minutes:.0f} minutes, beside the time that engines take to start")
    start = partial(launch, model=setting.model, devices=setting.devices, logs=output / "logs")
    with Fleet(setting.devices, start) as fleet:
        for name, plan in plans.items():
            console.rule(f"[bold]{name}", align="left")
            folder = output / name
            finished = partial(_report, folder, name, plan)
            figures = run_rounds(plan, fleet, rounds, folder, console=console, finished=finished)
            Console(file=sys.stdout, highlight=False).print(table(plan.compare(figures)))


def _report(folder: Path, name: str, plan: Plan, figures: Figures) -> None:
    """After every round: a run that is stopped early leaves what it has found."""
    write_report(folder, name, environment(), figures, plan.compare(figures))
