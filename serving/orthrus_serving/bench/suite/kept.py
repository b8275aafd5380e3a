"""What an earlier run of the same suite has left, to go on from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orthrus_serving.bench.measure.machine import machine
from orthrus_serving.bench.measure.result import extra, read_result, whole_run
from orthrus_serving.bench.suite.figures import Figures, Measured
from orthrus_serving.bench.suite.preset import Plan
from orthrus_serving.bench.suite.runner import described_trial, file_of

_OF_EACH_RUN = frozenset({"nonce"})
SUMMARY = "summary.json"


def read_kept(folder: Path, plan: Plan, settings: Mapping[str, Any], rounds: int) -> Figures:
    """The rounds of which every trial is there, and all that has failed.

    Of a round that was interrupted nothing is kept: its pairs would lie apart in time.

    Raises:
        ValueError: a result is of other settings, or of another machine.
    """
    summary = folder / SUMMARY
    failures = json.loads(summary.read_text())["failures"] if summary.exists() else []
    figures = Figures(failures=failures)
    here = machine()
    for number in range(rounds):
        files = {trial: file_of(folder, trial, number) for trial in plan.trials}
        if not all(file.exists() for file in files.values()):
            continue
        figures.rounds = number + 1
        for trial, file in files.items():
            result = read_result(file)
            _check(file, result, described_trial(trial, settings) | here)
            measured = Measured(whole_run(result), result["notes"], extra(result))
            figures.add(trial.system.name, trial.cell.name, number, measured)
    return figures


def _check(file: Path, result: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    then = result["settings"] | result["environment"]
    now = json.loads(json.dumps(wanted))
    other = sorted(name for name in now.keys() - _OF_EACH_RUN if then.get(name) != now[name])
    if other:
        raise ValueError(
            f"{file} was measured with another {', '.join(other)}: give the same options, or "
            "another --output"
        )
