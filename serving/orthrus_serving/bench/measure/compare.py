"""Two systems by pairs of their results."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orthrus_serving.bench.measure.ratios import Comparison
from orthrus_serving.bench.measure.result import read_result

Results = Sequence[Mapping[str, Any]]

_RATES = {
    "requests_per_second": "requests per second",
    "prompt_tokens_per_second": "prompt tokens per second",
    "output_tokens_per_second": "output tokens per second",
    "good_per_second": "good answers per second",
}
_DURATIONS = {
    "latency": "end to end",
    "first_token": "time to first token",
    "gap": "inter-token gap",
    "seconds_per_token": "time per output token",
}
_PERCENTILES = ("p50", "p99")


def read_pairs(first: Path, second: Path) -> tuple[Results, Results]:
    """Results of two files, or of the files that two folders both have.

    Raises:
        ValueError: there is no pair, or a file is no result.
    """
    if first.is_file() and second.is_file():
        return [read_result(first)], [read_result(second)]
    names = [
        sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json"))
        for folder in (first, second)
    ]
    common = [name for name in names[0] if name in names[1]]
    if not common:
        raise ValueError(f"{first} and {second} have no file of the same name")
    return (
        [read_result(first / name) for name in common],
        [read_result(second / name) for name in common],
    )


def compare(first: Results, second: Results) -> list[Comparison]:
    """`first` ÷ `second` for every figure that all pairs have."""
    pairs = [(_figures(a), _figures(b)) for a, b in zip(first, second, strict=True)]
    return [
        Comparison(name, "A ÷ B", [a[name] / b[name] for a, b in pairs])
        for name in pairs[0][0]
        if all(name in a and b.get(name) for a, b in pairs)
    ]


def _figures(result: Mapping[str, Any]) -> dict[str, float]:
    """Figures of the whole run by their names; what was not measured is left out."""
    return {
        f"{task} {name}": value
        for task, summary in result["windows"][0]["tasks"].items()
        for name, value in _of_task(summary)
    }


def _of_task(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, name in _RATES.items():
        if summary[key] is not None:
            yield name, summary[key]
    for key, name in _DURATIONS.items():
        if summary[key] is not None:
            for percentile in _PERCENTILES:
                yield f"{name} {percentile}", summary[key][percentile]
