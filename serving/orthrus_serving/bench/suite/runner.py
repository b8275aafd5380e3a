"""Rounds of trials: the same work for every system of a round, in alternating order."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from orthrus_serving.bench.load.measure import measure
from orthrus_serving.bench.load.progress import shown_progress
from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.load.run import Servers, UnusableServerError
from orthrus_serving.bench.measure.result import Result
from orthrus_serving.bench.retgen.load import RequestLostError
from orthrus_serving.bench.suite.engine import Engine
from orthrus_serving.bench.suite.figures import Figures, Measured
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.launch import MODEL, EngineFailedError
from orthrus_serving.bench.suite.preset import Plan, Trial
from orthrus_serving.bench.suite.system import System
from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True)
class Runner:
    """Writes a file for each trial into `folder`; `settings` are those of all of them."""

    fleet: Fleet
    folder: Path
    settings: Mapping[str, Any]
    console: Console

    def run(
        self, plan: Plan, rounds: int, finished: Callable[[Figures], None], figures: Figures
    ) -> None:
        """Adds the rounds that `figures` lack, and calls `finished` after each.

        A trial whose engine fails is noted, and the others go on.
        """
        missing = [number for number in range(rounds) if not figures.has_round(number)]
        began = time.monotonic()
        for done, number in enumerate(missing, start=1):
            figures.rounds = max(figures.rounds, number + 1)
            # Whatever drifts in a round meets each system early and late alike.
            for trial in plan.trials if number % 2 == 0 else reversed(plan.trials):
                self._try(trial, number, figures)
            minutes = (time.monotonic() - began) / 60
            left = minutes / done * (len(missing) - done)
            self.console.print(
                f"round {number + 1} of {rounds} done after {minutes:.1f} minutes; "
                f"at this pace {left:.0f} more"
            )
            finished(figures)

    def _try(self, trial: Trial, number: int, figures: Figures) -> None:
        system, cell = trial.system.name, trial.cell.name
        name = f"round {number + 1}, {system}, {cell}"
        # Those that crashed while others were measured are no failure of this trial.
        for error in self.fleet.bury().values():
            self._note(figures, f"before {name}: {error}")
        try:
            result = self._measure(trial, number, name)
        except (EngineFailedError, UnusableServerError, RequestLostError) as error:
            self._note(figures, f"{name}: {error}")
            return
        result.write(file_of(self.folder, trial, number))
        kept = Measured(result.summaries[0], result.notes, result.extra)
        figures.add(system, cell, number, kept)

    def _note(self, figures: Figures, failure: str) -> None:
        figures.failures.append(failure)
        self.console.print(failure, style="red", markup=False)

    def _measure(self, trial: Trial, seed: int, name: str) -> Result:
        engines = trial.system.engines
        with self.console.status(f"{name}: starting engines"):
            servers = _servers(trial.system, self.fleet)
        load = trial.cell.load(seed)
        described = described_trial(trial, self.settings) | {"seed": seed}
        with shown_progress(load, self.console, f"{name}:") as shown:

            def progress(seconds: float, record: Record) -> None:
                self._check(engines)  # at once, not when all clients have failed long enough
                shown(seconds, record)

            try:
                return measure(servers, load, settings=described, progress=progress)
            except (UnusableServerError, RequestLostError):
                self._check(engines)  # a crash says more than the request that it failed
                raise

    def _check(self, engines: Sequence[Engine]) -> None:
        """Raises EngineFailedError: some have crashed."""
        crashed = self.fleet.bury()
        if any(engine in crashed for engine in engines):
            raise EngineFailedError("\n".join(map(str, crashed.values())))


def file_of(folder: Path, trial: Trial, number: int) -> Path:
    """Where the result of a trial in a round is, in the folder of its preset."""
    return folder / trial.system.name / trial.cell.name / f"round-{number:02}.json"


def described_trial(trial: Trial, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What its result says of it, in each round."""
    return {
        **settings,
        "system": trial.system.name,
        "cell": trial.cell.name,
        "bounds": trial.cell.bounds and asdict(trial.cell.bounds),
        "engines": [engine.name for engine in trial.system.engines],
    }


def _servers(system: System, fleet: Fleet) -> Servers:
    urls = dict(zip(system.engines, fleet.urls(system.engines), strict=True))
    of_tasks = {task: [urls[engine] for engine in system.engines_of(task)] for task in Task}
    return Servers(
        {task: found for task, found in of_tasks.items() if found},
        dict.fromkeys(Task, MODEL),
        generation_extra={"ignore_eos": True},
    )
