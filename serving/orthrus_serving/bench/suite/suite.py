"""The presets of one call, one after the other on the same fleet."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from orthrus_serving.bench.measure.machine import environment
from orthrus_serving.bench.report.ratio_table import dropped, table
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.kept import read_kept
from orthrus_serving.bench.suite.launch import launch, words_of
from orthrus_serving.bench.suite.page import Conditions, write_report
from orthrus_serving.bench.suite.preset import Plan, Setting
from orthrus_serving.bench.suite.presets import PRESETS
from orthrus_serving.bench.suite.runner import Runner


def plans_of(names: Sequence[str], setting: Setting) -> dict[str, Plan]:
    """Raises ValueError: there is no such preset."""
    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise ValueError(f"no preset {', '.join(unknown)}: choose from {', '.join(PRESETS)}")
    return {name: PRESETS[name](setting) for name in names}


def show_plan(plans: Mapping[str, Plan], rounds: int, console: Console) -> None:
    """What is measured, and about how long it takes."""
    bounds = zip(*(plan.seconds for plan in plans.values()), strict=True)
    least, most = (rounds * sum(seconds) / 60 for seconds in bounds)
    trials = [trial for plan in plans.values() for trial in plan.trials]
    engines = {engine for trial in trials for engine in trial.system.engines}
    console.print(
        f"{rounds} rounds of {len(trials)} measurements: {least:.0f} to {most:.0f} minutes, beside "
        f"the time that {len(engines)} engines take to start"
    )


def run_suite(
    plans: Mapping[str, Plan],
    setting: Setting,
    rounds: int,
    output: Path,
    console: Console,
    *,
    resume: bool,
) -> list[str]:
    """Runs presets; writes and prints what came of each. Returns what failed.

    `resume` keeps the rounds that `output` has.

    Raises:
        ValueError: these are of other settings.
    """
    show_plan(plans, rounds, console)
    console.print(setting.devices.remark, markup=False)
    start = partial(launch, model=setting.model, devices=setting.devices, logs=output / "logs")
    failures: list[str] = []
    with Fleet(setting.devices, start) as fleet:
        for name, plan in plans.items():
            console.rule(f"[bold]{name}", align="left")
            folder = output / name
            conditions = _conditions(name, plan, setting)
            settings = conditions.settings | {"commands": conditions.engines}
            figures = read_kept(folder, plan, settings, rounds) if resume else Figures()
            Runner(fleet, folder, settings, console).run(
                plan, rounds, partial(_report, folder, plan, conditions), figures
            )
            failures += figures.failures
            comparisons = plan.compare(figures)
            shown = Console(file=sys.stdout, highlight=False)
            shown.print(table(comparisons))
            for line in dropped(comparisons):
                shown.print(line, markup=False)
    return failures


def _conditions(name: str, plan: Plan, setting: Setting) -> Conditions:
    work: dict[str, Any] = asdict(setting.work) | {"token_ids": str(setting.work.token_ids)}
    bounds = {t.cell.name: asdict(t.cell.bounds) for t in plan.trials if t.cell.bounds}
    engines = {engine for trial in plan.trials for engine in trial.system.engines}
    return Conditions(
        name,
        {"devices": setting.devices.remark, **work, "bounds": bounds},
        {
            engine.name: shlex.join(words_of(engine, setting.model, setting.devices))
            for engine in sorted(engines, key=lambda engine: engine.name)
        },
    )


def _report(folder: Path, plan: Plan, conditions: Conditions, figures: Figures) -> None:
    """After every round: a run that is stopped early leaves what it has found."""
    write_report(folder, environment(), conditions, figures, plan.compare(figures))
