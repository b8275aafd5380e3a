"""Two systems by pairs of their results."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orthrus_serving.bench.measure.ratios import Comparison, Pair
from orthrus_serving.bench.measure.result import read_result

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


@dataclass(frozen=True)
class PairedResults:
    """Two results of one load."""

    load: str
    """Results of one folder are of one load, and only these share a median."""
    name: str
    first: Mapping[str, Any]
    second: Mapping[str, Any]


@dataclass(frozen=True)
class Paired:
    """What two folders have in common, and what only one of them has."""

    pairs: Sequence[PairedResults]
    alone: Sequence[str] = ()

    @property
    def notes(self) -> list[str]:
        """How results were measured that are not as they should be."""
        return [
            f"{side}, {'/'.join(filter(None, (pair.load, pair.name)))}: {note}"
            for pair in self.pairs
            for side, result in (("A", pair.first), ("B", pair.second))
            for note in result["notes"]
        ]


def read_pairs(first: Path, second: Path) -> Paired:
    """Results of two files, or of the files that two folders both have.

    Raises:
        ValueError: there is no pair, or a file is no result.
    """
    if first.is_file() and second.is_file():
        names = f"{first.name} and {second.name}"
        return Paired([PairedResults("", names, read_result(first), read_result(second))])
    names_of = {
        folder: {path.relative_to(folder) for path in folder.rglob("*.json")}
        for folder in (first, second)
    }
    common = names_of[first] & names_of[second]
    if not common:
        raise ValueError(f"{first} and {second} have no file of the same name")
    return Paired(
        [
            PairedResults(
                "" if name.parent == Path() else str(name.parent),
                name.name,
                read_result(first / name),
                read_result(second / name),
            )
            for name in sorted(common)
        ],
        [
            str(folder / name)
            for folder, names in names_of.items()
            for name in sorted(names - common)
        ],
    )


def compare(pairs: Sequence[PairedResults]) -> list[Comparison]:
    """First ÷ second for every figure that any pair has, apart for each load."""
    of_loads: dict[str, list[PairedResults]] = defaultdict(list)
    for pair in pairs:
        of_loads[pair.load].append(pair)
    return [each for load, found in of_loads.items() for each in _compare_load(load, found)]


def _compare_load(load: str, pairs: Sequence[PairedResults]) -> Iterator[Comparison]:
    figures = [(pair.name, _figures(pair.first), _figures(pair.second)) for pair in pairs]
    names = dict.fromkeys(name for _, *sides in figures for side in sides for name in side)
    for name in names:
        found = [Pair(pair, a.get(name), b.get(name)) for pair, a, b in figures]
        yield Comparison.of_pairs(f"{load}, {name}" if load else name, "A ÷ B", found)


def _figures(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Figures of the whole run by their names; None where there were too few for one."""
    return {
        f"{task} {name}": value
        for task, summary in result["windows"][0]["tasks"].items()
        for name, value in _of_task(summary)
    }


def _of_task(summary: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for key, name in _RATES.items():
        if summary[key] is not None:
            yield name, summary[key]
    for key, name in _DURATIONS.items():
        if summary[key] is not None:
            for percentile in _PERCENTILES:
                yield f"{name} {percentile}", summary[key][percentile]
