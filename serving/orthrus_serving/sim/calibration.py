"""Fits the linear cost of a step to what a real replica measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from orthrus_serving.sim.linear_cost import LinearCost

_LEAST_WINDOWS = 20


@dataclass(frozen=True)
class Window:
    """Sums over the steps between two looks at a replica's counters; times add up like tokens, so
    a window says as much of a linear model as its steps would."""

    steps: int
    chunk_tokens: int
    decode_tokens: int
    seconds: float

    @property
    def kind(self) -> str:
        """What its steps held."""
        if not self.decode_tokens:
            return "chunks only"
        return "chunks and decodes" if self.chunk_tokens else "decodes only"


ALL = "anything"


@dataclass(frozen=True)
class Errors:
    """Of predictions for windows that were not fitted to, relative to what was measured."""

    windows: int
    median: float
    p90: float
    total: float
    """Of the time of all windows together, with its sign."""


@dataclass(frozen=True)
class Calibration:
    cost: LinearCost
    fitted_windows: int
    held_out: Mapping[str, Errors]
    """Of all windows, then by their kind."""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        held_out = {kind: Errors(**errors) for kind, errors in found["held_out"].items()}
        return cls(LinearCost(**found["cost"]), found["fitted_windows"], held_out)


def calibrate(windows: Sequence[Window], seed: int) -> Calibration:
    """Fit to one half, drawn by `seed`, and test on the other.

    Relative errors are squared, so that long windows do not drown short ones. No coefficient is
    negative, since no token makes a step shorter.

    Raises ValueError when there are too few windows, or they do not tell the costs apart.
    """
    if len(windows) < _LEAST_WINDOWS:
        raise ValueError(
            f"{len(windows)} windows with steps, but at least {_LEAST_WINDOWS} are needed: "
            "measure longer"
        )
    shuffled = list(windows)
    Random(seed).shuffle(shuffled)  # noqa: S311
    half = len(shuffled) // 2
    fitted, held_out = shuffled[:half], shuffled[half:]
    features, seconds = _features(fitted), _seconds(fitted)
    weighted = features / seconds[:, None]
    if np.linalg.matrix_rank(weighted) < weighted.shape[1]:
        raise ValueError(
            "the windows do not tell steps, chunk tokens and decode tokens apart: measure under a "
            "load of both tasks that varies"
        )
    coefficients, _ = nnls(weighted, np.ones(len(fitted)))
    cost = LinearCost(*map(float, coefficients))
    of_kinds: dict[str, list[Window]] = {ALL: held_out}
    for window in held_out:
        of_kinds.setdefault(window.kind, []).append(window)
    errors = {kind: _errors(coefficients, found) for kind, found in sorted(of_kinds.items())}
    return Calibration(cost, half, errors)


def _features(windows: Sequence[Window]) -> NDArray[np.float64]:
    return np.array([(w.steps, w.chunk_tokens, w.decode_tokens) for w in windows], dtype=float)


def _seconds(windows: Sequence[Window]) -> NDArray[np.float64]:
    return np.array([window.seconds for window in windows])


def _errors(coefficients: NDArray[np.float64], windows: Sequence[Window]) -> Errors:
    predicted, measured = _features(windows) @ coefficients, _seconds(windows)
    errors = np.abs(predicted / measured - 1)
    return Errors(
        len(windows),
        float(np.median(errors)),
        float(np.percentile(errors, 90)),
        float(predicted.sum() / measured.sum() - 1),
    )
