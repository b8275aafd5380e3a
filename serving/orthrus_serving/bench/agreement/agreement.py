"""Pairs of runs of both clients against one stock vLLM server."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from orthrus_serving.bench.agreement.prompts import write_prompts
from orthrus_serving.bench.agreement.sides import Job, ours, theirs
from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.bench.suite.devices import Devices, pinned
from orthrus_serving.bench.suite.engine import Engine, Kind
from orthrus_serving.bench.suite.launch import Model, launch
from orthrus_serving.scheduling.task import Task

TOLERANCE = 0.03
_KINDS = {Task.EMBEDDING: Kind.POOLING, Task.GENERATION: Kind.GENERATE}


@dataclass(frozen=True)
class Agreement:
    """What is compared: each side of a pair sends all requests once."""

    model: Model
    devices: Devices
    requests: int
    clients: int
    output_tokens: int

    def compare(self, task: Task, pairs: int, console: Console) -> list[Comparison]:
        """Our figures ÷ vLLM's.

        Raises:
            EngineFailedError: the server cannot be started.
            SideFailedError: a client failed.
        """
        ratios: dict[str, list[float]] = defaultdict(list)
        with self._job(task) as job:
            for pair in range(-1, pairs):  # the first one warms up
                sides = (ours, theirs) if pair % 2 else (theirs, ours)
                found = {side: side(job) for side in sides}
                for figure in found[ours] if pair >= 0 else ():
                    ratios[figure].append(found[ours][figure] / found[theirs][figure])
                console.print(f"{task.value}: {pair + 1} of {pairs} pairs done")
        meaning = "orthrus bench run ÷ vllm bench serve"
        return [
            Comparison(f"{task.value}, {figure}", meaning, found, Goal("within", TOLERANCE))
            for figure, found in ratios.items()
        ]

    @contextmanager
    def _job(self, task: Task) -> Iterator[Job]:
        """The work, while a server runs; the clients keep off its cores."""
        engine = Engine(_KINDS[task], (0,))
        with tempfile.TemporaryDirectory() as folder:
            prompts = Path(folder) / "prompts.jsonl"
            write_prompts(prompts, task, self.requests, self.output_tokens)
            server = launch(engine, self.model, self.devices, Path(folder))
            try:
                server.wait_serving()
                with pinned(_beside(self.devices.cores(engine))):
                    yield Job(
                        server.url, task, prompts, self.requests, self.clients, self.model.path
                    )
            finally:
                server.stop()


def _beside(cores: Sequence[int]) -> list[int]:
    """Cores for the clients: not the server's, if there are others."""
    mine = os.sched_getaffinity(0)
    return sorted(mine - set(cores)) or sorted(mine)
