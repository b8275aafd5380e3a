"""Whether an object has everything that was asked of it, whatever else others added."""

from collections.abc import Mapping, Sequence
from typing import Any

from orthrus_operator.api.quantity import parse_quantity

_QUANTITY_FIELDS = frozenset({"requests", "limits", "sizeLimit", "divisor", "averageValue"})
_PRESENCE_SAYS_IT = frozenset({"emptyDir"})
"""Fields whose empty value asks for something."""
_FALSE_WHEN_ABSENT = frozenset({"readOnly"})
"""Of the others, absent may mean true, or that a plug-in decides."""


def missing_field(desired: Any, actual: Any) -> str | None:
    """Path of the first desired field that `actual` lacks or has otherwise; None if it has all.

    Lists of objects may be longer and in another order in `actual`; lists of plain values must be
    equal. Quantities are compared by value, since the API server rewrites them; what is empty or
    false may be absent, since it leaves such values out.
    """
    return _missing(desired, actual, path="", quantities=False)


def _missing(desired: Any, actual: Any, path: str, quantities: bool) -> str | None:
    if isinstance(desired, Mapping):
        return _missing_in_object(desired, actual, path, quantities)
    if isinstance(desired, list) and any(isinstance(item, Mapping) for item in desired):
        return _missing_in_list(desired, actual, path, quantities)
    return None if desired == actual or (quantities and _same_quantity(desired, actual)) else path


def _missing_in_object(
    desired: Mapping[str, Any], actual: Any, path: str, quantities: bool
) -> str | None:
    if not isinstance(actual, Mapping):
        return path
    for key, value in desired.items():
        child = f"{path}.{key}" if path else key
        if key not in actual:
            if _may_be_absent(key, value):
                continue
            return child
        missing = _missing(value, actual[key], child, quantities or key in _QUANTITY_FIELDS)
        if missing:
            return missing
    return None


def _missing_in_list(
    desired: Sequence[Any], actual: Any, path: str, quantities: bool
) -> str | None:
    candidates = actual if isinstance(actual, list) else []
    for index, item in enumerate(desired):
        # The item that stands in the same place explains best what is missing.
        same_place = candidates[index : index + 1]
        found = [
            _missing(item, candidate, f"{path}[{index}]", quantities)
            for candidate in (*same_place, *candidates)
        ]
        if None not in found:
            return found[0] if found else f"{path}[{index}]"
    return None


def _same_quantity(desired: Any, actual: Any) -> bool:
    try:
        return parse_quantity(desired) == parse_quantity(actual)
    except ValueError:
        return False


def _may_be_absent(key: str, value: Any) -> bool:
    if value is False:
        return key in _FALSE_WHEN_ABSENT
    return value in (None, "", [], {}) and key not in _PRESENCE_SAYS_IT
