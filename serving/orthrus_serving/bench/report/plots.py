"""Plots of a run, from its samples."""

import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orthrus_serving.bench.measure.result import tasks_of
from orthrus_serving.scheduling.task import Task

mpl.use("Agg")
COLOURS = {Task.EMBEDDING: "tab:blue", Task.GENERATION: "tab:orange"}
_SLICES = 60


def plots(result: Mapping[str, Any]) -> dict[str, bytes]:
    """PNG files by name."""
    drawn = {"latency": _latency, "throughput": _throughput, "mix": _mix}
    return {name: png(partial(draw, result=result)) for name, draw in drawn.items()}


def png(draw: Callable[[Axes], None]) -> bytes:
    """One plot as a file."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    draw(figure.subplots())
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=120)
    return file.getvalue()


def _answers(result: Mapping[str, Any], task: Task) -> list[Mapping[str, Any]]:
    return [s for s in result["samples"] if s["task"] == task.value and s["error"] is None]


def _latency(axes: Axes, result: Mapping[str, Any]) -> None:
    """Share of requests that took at most so long."""
    for task in tasks_of(result):
        took = np.sort([s["ended"] - s["planned"] for s in _answers(result, task)])
        if took.size:
            shares = np.arange(1, took.size + 1) / took.size
            axes.step(took, shares, where="post", label=task.value, color=COLOURS[task])
    axes.set(xlabel="end to end, seconds", ylabel="share of requests", ylim=(0, 1), xscale="log")
    axes.legend()
    axes.grid(alpha=0.3)


def _throughput(axes: Axes, result: Mapping[str, Any]) -> None:
    """Answers per second over time; what is not measured is grey."""
    edges = _edges(result)
    for task in tasks_of(result):
        counts, _ = np.histogram([s["ended"] for s in _answers(result, task)], edges)
        axes.stairs(counts / np.diff(edges), edges, label=task.value, color=COLOURS[task])
    whole = result["windows"][0]["window"]
    for start, end in ((0.0, whole["start"]), (whole["end"], edges[-1])):
        if end > start:
            axes.axvspan(start, end, color="0.9")
    axes.set(xlabel="seconds", ylabel="answers per second", ylim=(0, None))
    axes.legend()
    axes.grid(alpha=0.3)


def _mix(axes: Axes, result: Mapping[str, Any]) -> None:
    """Embedding share of the tokens of answers, over time."""
    edges = _edges(result)
    tokens = {
        task: np.histogram(
            [s["ended"] for s in _answers(result, task)],
            edges,
            weights=[s["prompt_tokens"] + s["output_tokens"] for s in _answers(result, task)],
        )[0]
        for task in Task
    }
    total = sum(tokens.values())
    with np.errstate(invalid="ignore"):
        share = tokens[Task.EMBEDDING] / total
    axes.stairs(share, edges, color="tab:green")
    axes.set(xlabel="seconds", ylabel="embedding share of tokens", ylim=(0, 1))
    axes.grid(alpha=0.3)


def _edges(result: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    last = max((sample["ended"] for sample in result["samples"]), default=1.0)
    return np.linspace(0.0, last, _SLICES + 1)
