"""Run a load and say what came of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import uvloop

from orthrus_serving.bench.load.load import Load
from orthrus_serving.bench.load.run import Progress, Servers, run
from orthrus_serving.bench.measure.machine import environment
from orthrus_serving.bench.measure.objective import Objective
from orthrus_serving.bench.measure.result import Result
from orthrus_serving.bench.measure.summary import summarize


def measure(
    servers: Servers,
    load: Load,
    objectives: Sequence[Objective] = (),
    settings: Mapping[str, Any] | None = None,
    progress: Progress = lambda *_: None,
) -> Result:
    """Runs `load` in an event loop of its own.

    Raises:
        UnusableServerError: a first request of a task failed.
    """
    outcomes = uvloop.run(run(servers, load, progress))
    last_end = max((outcome.ended for outcome in outcomes), default=0.0)
    summaries = [
        summarize(outcomes, window, load.by, objectives) for window in load.windows(last_end)
    ]
    return Result(settings or {}, environment(), summaries, outcomes, load.notes, load.extra)
