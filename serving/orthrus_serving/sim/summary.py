"""Figures of a simulation, ready for a table or JSON."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthrus_serving.sim.record import Record


@dataclass(frozen=True)
class Distribution:
    """Of a latency in seconds."""

    mean: float
    p50: float
    p90: float
    p99: float
    max: float


@dataclass(frozen=True)
class TaskSummary:
    """Of the requests that were answered within a window; no distributions without any."""

    requests: int
    requests_per_second: float
    prompt_tokens_per_second: float
    output_tokens_per_second: float
    latency: Distribution | None
    first_output: Distribution | None
    token_gap: Distribution | None
    """Mean gap between the tokens of one request, over requests of two tokens or more."""


def summarize(record: Record, start: float, end: float, runs: int = 1) -> TaskSummary:
    """`record` may hold several runs, each of which had this window."""
    finished = np.asarray(record.finished)
    inside = (finished > start) & (finished <= end)
    arrived = np.asarray(record.arrived)[inside]
    first = np.asarray(record.first_output)[inside]
    finished = finished[inside]
    output = np.asarray(record.output_tokens)[inside]
    streams = output > 1
    seconds = (end - start) * runs
    return TaskSummary(
        requests=len(finished),
        requests_per_second=len(finished) / seconds,
        prompt_tokens_per_second=float(np.asarray(record.prompt_tokens)[inside].sum()) / seconds,
        output_tokens_per_second=float(output.sum()) / seconds,
        latency=distribution(finished - arrived),
        first_output=distribution((first - arrived)[output > 0]),
        token_gap=distribution(((finished - first)[streams]) / (output[streams] - 1)),
    )


def distribution(seconds: NDArray[np.float64]) -> Distribution | None:
    if not len(seconds):
        return None
    p50, p90, p99 = np.percentile(seconds, (50, 90, 99))
    return Distribution(
        float(seconds.mean()), float(p50), float(p90), float(p99), float(seconds.max())
    )
