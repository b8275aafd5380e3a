"""A stored object that our types cannot read."""

from collections.abc import Iterable

from pydantic import ValidationError

from orthrus_operator.api.group import KIND
from orthrus_operator.planner.problem import Problem

_MOST_SHOWN = 3


def invalid_spec(error: ValidationError) -> Problem:
    """What to do about an object that was stored under another version of the CRD."""
    found = error.errors(include_input=False, include_url=False)
    shown = "; ".join(f"{_path(each['loc'])}: {each['msg']}" for each in found[:_MOST_SHOWN])
    more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return Problem(
        "InvalidSpec",
        f"this operator does not understand the stored {KIND}, perhaps from another version of its"
        f" CRD; nothing that runs is touched. Correct it and apply it again ({shown}{more})",
        stalled=True,
    )


def _path(location: Iterable[int | str]) -> str:
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location
    ).lstrip(".")
