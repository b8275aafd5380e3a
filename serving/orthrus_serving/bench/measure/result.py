"""A measured run as one JSON file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.measure.spread import Spread
from orthrus_serving.bench.measure.summary import Summary, TaskSummary
from orthrus_serving.bench.measure.window import Window
from orthrus_serving.scheduling.task import Task

_FORMAT = 1
_LATE_SECONDS = 0.05
_OF_ALL = frozenset({"format", "settings", "environment", "notes", "windows", "samples"})
_SPREADS = ("latency", "first_token", "gap", "seconds_per_token")


@dataclass(frozen=True)
class Result:
    """`summaries` begin with the whole run; `settings` is what was asked for, for its reader."""

    settings: Mapping[str, Any]
    environment: Mapping[str, Any]
    summaries: Sequence[Summary]
    outcomes: Sequence[Outcome]
    notes: Sequence[str] = ()
    """What its reader must know of how it was measured."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Figures that are not of requests, beside the others in the file."""

    @property
    def client_was_late(self) -> bool:
        """Whether requests left so much after their time that the client was the limit."""
        lag = self.summaries[0].send_lag
        return lag is not None and (lag.max if lag.p99 is None else lag.p99) > _LATE_SECONDS

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.to_json()) + "\n")

    def to_json(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "settings": dict(self.settings),
            "environment": dict(self.environment),
            "notes": list(self.notes),
            "windows": [_summary(summary) for summary in self.summaries],
            "samples": [_sample(outcome) for outcome in self.outcomes],
            **self.extra,
        }


def _summary(summary: Summary) -> dict[str, Any]:
    tasks = {task.value: asdict(found) for task, found in summary.tasks.items()}
    return asdict(summary) | {"tasks": tasks}


def _sample(outcome: Outcome) -> dict[str, Any]:
    first = outcome.arrivals[0] if outcome.arrivals else None
    return {
        "task": outcome.task.value,
        "planned": round(outcome.planned, 6),
        "sent": round(outcome.sent, 6),
        "first": first and round(first, 6),
        "ended": round(outcome.ended, 6),
        "longest_gap": round(max(outcome.gaps, default=0.0), 6),
        "prompt_tokens": outcome.prompt_tokens,
        "output_tokens": outcome.output_tokens,
        "error": outcome.error,
    }


def read_result(path: Path) -> dict[str, Any]:
    """The JSON of a result.

    Raises:
        ValueError: the file is no result of this version.
    """
    try:
        found = json.loads(path.read_text())
        known = found["format"] == _FORMAT
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ValueError(f"{path} is no result of `orthrus bench run`")
    return dict(found)


def whole_run(result: Mapping[str, Any]) -> Summary:
    """Of the JSON of a result: what was its first summary when it was written."""
    found = result["windows"][0]
    return Summary(
        Window(**found["window"]),
        {Task(name): _read_task(of_task) for name, of_task in found["tasks"].items()},
        found["embedding_share"],
        _read_spread(found["send_lag"]),
    )


def extra(result: Mapping[str, Any]) -> dict[str, Any]:
    """What this one has beside the figures of requests."""
    return {name: found for name, found in result.items() if name not in _OF_ALL}


def _read_task(found: Mapping[str, Any]) -> TaskSummary:
    return TaskSummary(**{**found, **{name: _read_spread(found[name]) for name in _SPREADS}})


def _read_spread(found: Mapping[str, Any] | None) -> Spread | None:
    return None if found is None else Spread(**found)


def tasks_of(result: Mapping[str, Any]) -> list[Task]:
    """The tasks that a result has figures of."""
    return [task for task in Task if task.value in result["windows"][0]["tasks"]]
