"""The figures of a run on a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

_SPREADS = {
    "latency": "end to end",
    "first_token": "first token",
    "gap": "inter-token gap",
    "seconds_per_token": "per output token",
}
_PERCENTILES = ("p50", "p90", "p99", "max")


def rates(result: Mapping[str, Any]) -> Table:
    """Rates and errors, a row for each window and task."""
    table = Table("window", "task", "answered", "requests/s", "prompt tok/s", "output tok/s")
    table.add_column("good/s")
    table.add_column("errors")
    for window, task, found in _rows(result):
        good = found["good_per_second"]
        errors = ", ".join(f"{count} x {kind}" for kind, count in found["errors"].items())
        table.add_row(
            window,
            task,
            str(found["answered"]),
            f"{found['requests_per_second']:.2f}",
            f"{found['prompt_tokens_per_second']:.0f}",
            f"{found['output_tokens_per_second']:.0f}",
            "-" if good is None else f"{good:.2f}",
            errors or "none",
        )
    return table


def durations(result: Mapping[str, Any]) -> Table:
    """Milliseconds, a row for each window, task and kind of duration."""
    table = Table("window", "task", "milliseconds", *_PERCENTILES)
    for window, task, found in _rows(result):
        for key, name in _SPREADS.items():
            if found[key] is not None:
                values = (shown(found[key], p, "{:.1f}", 1000) for p in _PERCENTILES)
                table.add_row(window, task, name, *values)
    return table


def shown(spread: Mapping[str, Any], name: str, form: str, scale: float = 1) -> str:
    """One figure of a spread; where there were too few durations for it, how many there were."""
    value = spread[name]
    return f"n/a (n={spread['count']})" if value is None else form.format(value * scale)


def _rows(result: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    return [
        (window["window"]["name"], task, found)
        for window in result["windows"]
        for task, found in window["tasks"].items()
    ]
