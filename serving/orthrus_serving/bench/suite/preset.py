"""A comparison by its name: which systems under which loads, and what is divided by what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orthrus_serving.bench.measure.ratios import Comparison
from orthrus_serving.bench.suite.cell import Cell, Work
from orthrus_serving.bench.suite.devices import Devices
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.launch import Model
from orthrus_serving.bench.suite.system import System


@dataclass(frozen=True)
class Trial:
    """One system under one load."""

    system: System
    cell: Cell


@dataclass(frozen=True)
class Plan:
    """The trials of one round, and the ratios that all rounds together give."""

    trials: Sequence[Trial]
    compare: Callable[[Figures], list[Comparison]]

    @property
    def seconds(self) -> tuple[float, float]:
        """About how long one round takes, at least and at most."""
        shortest, longest = zip(*(trial.cell.seconds for trial in self.trials), strict=True)
        return sum(shortest), sum(longest)


@dataclass(frozen=True)
class Setting:
    """What a preset is made for."""

    devices: Devices
    model: Model
    work: Work
    targets: Sequence[float]
    """Inter-token targets in milliseconds, for the curve over them."""
    mixes: Sequence[str]
    """Of the comparisons that have several."""


Preset = Callable[[Setting], Plan]
