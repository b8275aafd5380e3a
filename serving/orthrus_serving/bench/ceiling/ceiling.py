"""The client against the instant server."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from orthrus_serving.bench.load.clients import ClientSet
from orthrus_serving.bench.load.load import TimedClients
from orthrus_serving.bench.load.measure import measure
from orthrus_serving.bench.load.run import Servers
from orthrus_serving.bench.load.steady import Bounds
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.prompts import DrawnPrompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task

PROMPT_TOKENS = 128
_WARM_UP_SECONDS = 0.5
_WARM_UP_MOST_SECONDS = 10.0


@dataclass(frozen=True)
class Ceiling:
    """What the client reached on one task; messages are those of streams."""

    task: Task
    requests_per_second: float
    messages_per_second: float


def ceiling(clients: int, seconds: float) -> list[Ceiling]:
    """At least what the client can do: the server takes its share of the machine."""
    with _instant_server() as url:
        return [_reached(url, task, clients, seconds) for task in Task]


def _reached(url: str, task: Task, clients: int, seconds: float) -> Ceiling:
    outputs = parse_lengths("32") if task is Task.GENERATION else None
    prompts = DrawnPrompts(task, parse_lengths(str(PROMPT_TOKENS)), outputs, range(1000, 30000))
    mix = parse_mix("0:1" if task is Task.GENERATION else "1:0")
    bounds = Bounds(_WARM_UP_SECONDS, _WARM_UP_MOST_SECONDS, seconds, seconds, answers=1)
    workload = Workload({task: prompts}, [Phase(seconds, mix)], Unit.REQUESTS, seed=0)
    load = TimedClients(sets=[ClientSet(clients, workload)], bounds=bounds)
    found = measure(Servers({task: [url]}), load).summaries[0].tasks[task]
    return Ceiling(task, found.requests_per_second, found.output_tokens_per_second)


@contextmanager
def _instant_server() -> Iterator[str]:
    command = [sys.executable, "-m", "orthrus_serving.bench.ceiling.instant_server"]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdout is None or server.stdin is None:
            raise AssertionError
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.stdin.close()
