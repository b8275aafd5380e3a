"""What keeps an OrthrusDeployment from being ready."""

from collections.abc import Iterable
from dataclasses import dataclass

from orthrus_operator.api.reasons import Reason


@dataclass(frozen=True)
class Problem:
    """A cause, as it is shown in a condition."""

    reason: Reason
    """One word, for programs."""
    message: str
    """What is wrong, where, and what to do."""
    stalled: bool
    """True when waiting doesn't help: someone must change something."""


def worst(problems: Iterable[Problem]) -> Problem | None:
    """The problem to show: the first one that waiting doesn't solve, else the first."""
    return next(iter(sorted(problems, key=lambda problem: not problem.stalled)), None)
