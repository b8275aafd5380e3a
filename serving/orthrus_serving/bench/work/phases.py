"""A workload whose mix changes over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from orthrus_serving.bench.work.mix import Mix, parse_mix


@dataclass(frozen=True)
class Phase:
    """A mix for some seconds."""

    seconds: float
    mix: Mix

    def __str__(self) -> str:
        return f"{self.seconds:g}@{self.mix}"


def parse_phases(text: str) -> tuple[Phase, ...]:
    """Phases from `SECONDS@MIX,…`, as `60@10%,60@50%,60@90%`.

    Raises:
        ValueError: not of that form.
    """
    return tuple(map(_parse_phase, text.split(",")))


def _parse_phase(text: str) -> Phase:
    seconds, separator, mix = text.partition("@")
    try:
        length = float(seconds)
    except ValueError:
        length = 0
    if not separator or length <= 0:
        raise ValueError(f"phase {text!r}: write SECONDS@MIX, as 60@9:1 or 60@10%")
    return Phase(length, parse_mix(mix))


def phase_at(phases: Sequence[Phase], seconds: float) -> int:
    """Index of the phase at `seconds` after the start; the last one never ends."""
    for index, phase in enumerate(phases):
        if seconds < phase.seconds:
            return index
        seconds -= phase.seconds
    return len(phases) - 1
