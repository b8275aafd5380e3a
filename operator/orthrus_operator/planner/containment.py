"""Whether an object has everything that was asked of it, whatever else others added."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orthrus_operator.api.quantity import parse_quantity

_QUANTITY_FIELDS = frozenset({"requests", "limits", "sizeLimit", "divisor", "averageValue"})
_PRESENCE_SAYS_IT = frozenset({"emptyDir"})
"""Fields whose empty value asks for something."""
_FALSE_WHEN_ABSENT = frozenset({"readOnly"})
"""Of the others, absent may mean true, or that a plug-in decides."""


class Difference(NamedTuple):
    """One field that is not as it was asked for."""

    field: str
    """Its path."""
    wanted: Any
    found: Any
    """None when it is absent."""


def differences(desired: Any, actual: Any) -> Iterator[Difference]:
    """The desired fields that `actual` lacks or has otherwise.

    Lists of objects may be longer and in another order in `actual`; lists of plain values must be
    equal. Quantities are compared by value, since the API server rewrites them; what is empty or
    false may be absent, since it leaves such values out.
    """
    return _differences(desired, actual, path="", quantities=False)


def missing_field(desired: Any, actual: Any) -> str | None:
    """Path of the first desired field that `actual` lacks or has otherwise; None if it has all."""
    return next((each.field for each in differences(desired, actual)), None)


def _differences(desired: Any, actual: Any, path: str, quantities: bool) -> Iterator[Difference]:
    if isinstance(desired, Mapping):
        yield from _of_object(desired, actual, path, quantities)
    elif isinstance(desired, list) and any(isinstance(item, Mapping) for item in desired):
        yield from _of_list(desired, actual, path, quantities)
    elif desired != actual and not (quantities and _same_quantity(desired, actual)):
        yield Difference(path, desired, actual)


def _of_object(
    desired: Mapping[str, Any], actual: Any, path: str, quantities: bool
) -> Iterator[Difference]:
    if not isinstance(actual, Mapping):
        yield Difference(path, desired, actual)
        return
    for key, value in desired.items():
        child = f"{path}.{key}" if path else key
        if key in actual:
            yield from _differences(
                value, actual[key], child, quantities or key in _QUANTITY_FIELDS
            )
        elif not _may_be_absent(key, value):
            yield Difference(child, value, None)


def _of_list(
    desired: Sequence[Any], actual: Any, path: str, quantities: bool
) -> Iterator[Difference]:
    candidates = actual if isinstance(actual, list) else []
    for index, item in enumerate(desired):
        place = f"{path}[{index}]"
        if any(not any(_differences(item, each, place, quantities)) for each in candidates):
            continue
        counterpart = _counterpart(item, candidates, index)
        if counterpart is None:
            yield Difference(place, item, None)
        else:
            yield from _differences(item, counterpart, place, quantities)


def _counterpart(item: Any, candidates: Sequence[Any], index: int) -> Any:
    """The candidate that is `item` with other values: the one of its name, or, without a name, the
    one in its place; None when there is none."""
    same_place = candidates[index : index + 1]
    name = item.get("name") if isinstance(item, Mapping) else None
    if name is None:
        return same_place[0] if same_place else None
    named = (each for each in (*same_place, *candidates) if isinstance(each, Mapping))
    return next((each for each in named if each.get("name") == name), None)


def _same_quantity(desired: Any, actual: Any) -> bool:
    try:
        return parse_quantity(desired) == parse_quantity(actual)
    except ValueError:
        return False


def _may_be_absent(key: str, value: Any) -> bool:
    if value is False:
        return key in _FALSE_WHEN_ABSENT
    return value in (None, "", [], {}) and key not in _PRESENCE_SAYS_IT
