"""The schedule of an open loop: each request with the time at which it is due."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orthrus_serving.bench.work.phases import phase_at
from orthrus_serving.bench.work.prompts import DrawnPrompts, parse_request
from orthrus_serving.bench.work.request import Request
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True, slots=True)
class Planned:
    """A request that is due `at` seconds after the start."""

    at: float
    request: Request


def drawn_plan(
    workload: Workload,
    warm_up: float,
    arrivals: Callable[[np.random.Generator], Iterator[float]],
) -> Iterator[Planned]:
    """Arrivals for the length of the workload, after a warm-up with its first mix."""
    streams = [workload.requests(phase) for phase in range(len(workload.phases))]
    end = warm_up + workload.seconds
    # Of the arrivals alone: the same requests come whatever the rate is.
    for at in arrivals(np.random.default_rng([workload.seed, len(streams)])):
        if at >= end:
            return
        yield Planned(at, next(streams[phase_at(workload.phases, max(0.0, at - warm_up))]))


def read_trace(
    path: Path, drawn: dict[Task, DrawnPrompts], seed: int, nonce: int = 0
) -> Sequence[Planned]:
    """A recorded trace: JSONL with `at` (seconds), `task`, and `prompt` or `prompt_tokens`.

    A line with `prompt_tokens`, a number, gets that many drawn token ids.

    Raises:
        ValueError: a line is of another form, or times run backwards.
    """
    rng = np.random.default_rng([seed, nonce])
    planned: list[Planned] = []
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            at = float(line["at"])
            if "prompt_tokens" in line:
                ids = drawn[Task(line["task"])].token_ids
                length = int(line["prompt_tokens"])
                line["prompt"] = rng.integers(ids.start, ids.stop, length).tolist()
            request = parse_request(line, max_tokens=1)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path}, line {number}: {error!r}") from None
        if planned and at < planned[-1].at:
            raise ValueError(f"{path}, line {number}: at {at:g} comes after {planned[-1].at:g}")
        planned.append(Planned(at, request))
    if not planned:
        raise ValueError(f"{path} has no requests")
    return planned
