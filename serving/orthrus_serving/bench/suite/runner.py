"""Rounds of trials: the same work for every system of a round, in alternating order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from orthrus_serving.bench.load.measure import measure
from orthrus_serving.bench.load.progress import shown_progress
from orthrus_serving.bench.load.run import Servers
from orthrus_serving.bench.measure.result import Result
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.launch import MODEL
from orthrus_serving.bench.suite.preset import Plan, Trial
from orthrus_serving.bench.suite.system import System
from orthrus_serving.scheduling.task import Task


def run_rounds(
    plan: Plan,
    fleet: Fleet,
    rounds: int,
    folder: Path,
    *,
    console: Console,
    finished: Callable[[Figures], None],
) -> Figures:
    """Runs all rounds; writes a file for each trial, and calls `finished` after each round.

    Raises:
        EngineStartError: an engine cannot be started.
        UnusableServerError: one cannot be measured.
    """
    figures = Figures()
    for number in range(rounds):
        # Whatever drifts in a round meets each system early and late alike.
        for trial in plan.trials if number % 2 == 0 else reversed(plan.trials):
            result = _measure(trial, fleet, number, console)
            result.write(folder / trial.system.name / trial.cell.name / f"round-{number:02}.json")
            figures.add(trial.system.name, trial.cell.name, result.summaries[0])
        console.print(f"round {number + 1} of {rounds} done")
        finished(figures)
    return figures


def _measure(trial: Trial, fleet: Fleet, seed: int, console: Console) -> Result:
    name = f"round {seed + 1}, {trial.system.name}, {trial.cell.name}:"
    with console.status(f"{name} starting engines"):
        servers = _servers(trial.system, fleet)
    load = trial.cell.load(seed)
    settings: dict[str, Any] = {
        "system": trial.system.name,
        "cell": trial.cell.name,
        "seed": seed,
        "engines": [engine.name for engine in trial.system.engines],
    }
    with shown_progress(load, console, name) as progress:
        return measure(servers, load, settings=settings, progress=progress)


def _servers(system: System, fleet: Fleet) -> Servers:
    urls = dict(zip(system.engines, fleet.urls(system.engines), strict=True))
    of_tasks = {task: [urls[engine] for engine in system.engines_of(task)] for task in Task}
    return Servers(
        {task: found for task, found in of_tasks.items() if found},
        dict.fromkeys(Task, MODEL),
        generation_extra={"ignore_eos": True},
    )
