"""What a call about a child that the API server refused means to the user, and when to say so."""

import logging
import re

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.problem import Problem
from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.reconciler.paths import object_path

_PASSING = frozenset({404, 409, 429, 503, 504})
"""Statuses that say nothing of the object: the namespace is going, someone else wrote, overload."""
_SHOWN_FROM = 3
"""Faults that pass are a problem to show when they come so many times in a row."""
_DENIED = re.compile(r"denied (the )?request")
"""The words of admission webhooks, and of validating admission policies."""

_logger = logging.getLogger(__name__)


class Faults:
    """Counts for each child the faults in a row that may well pass."""

    def __init__(self) -> None:
        self._in_a_row: dict[str, int] = {}

    def problem(self, child: KubernetesObject, error: ApiError) -> Problem | None:
        """What to show of a call that failed; None while it may pass unseen."""
        path = object_path(child)
        _logger.warning("%s could not be brought in line: %s", path, error)
        found = _problem(child, error)
        if error.status not in _PASSING:
            self.passed(path)
            return found
        self._in_a_row[path] = self._in_a_row.get(path, 0) + 1
        return found if self._in_a_row[path] >= _SHOWN_FROM else None

    def passed(self, path: str) -> None:
        """The child at `path` is in line, or gone."""
        self._in_a_row.pop(path, None)


def _problem(child: KubernetesObject, error: ApiError) -> Problem:
    what = f"{child['kind']} {child['metadata']['name']}"
    # A field that the type lacks comes as a 500, though it's no fault of the server.
    unknown_field = error.status == 500 and "field not declared in schema" in error.message
    denied = error.status == 403 and _DENIED.search(error.message)
    if error.status in (400, 422) or unknown_field or denied:
        message = f"the API server refuses {what}: {error.message}"
        return Problem("ObjectRefused", message, stalled=True)
    if error.status == 403 and "exceeded quota" in error.message:
        message = f"the namespace's quota does not allow {what}; raise it ({error.message})"
        return Problem("QuotaExceeded", message, stalled=False)
    if error.status == 403:
        message = f"the operator may not bring {what} in line: {error.message}"
        return Problem("Forbidden", message, stalled=False)
    message = f"{what} could not be brought in line; trying again ({error.message})"
    return Problem("ApplyFailed", message, stalled=False)
