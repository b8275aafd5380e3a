"""Kubernetes quantities such as `500m` or `16Gi`."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from orthrus_operator.api.declare import Rule, rules

_NUMBER = re.compile(r"^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

Quantity = Annotated[
    int | str,
    # Bounded length keeps CEL rules over quantities within the API server's cost budget.
    Field(
        json_schema_extra={
            "maxLength": 64,
            **rules(
                Rule(
                    "isQuantity(string(self))"
                    " && quantity(string(self)).compareTo(quantity('0')) >= 0",
                    "must be a quantity of at least 0, such as 500m, 4 or 16Gi",
                )
            ),
        }
    ),
]


def parse_quantity(value: int | str) -> Decimal:
    """The number that a quantity stands for; raises ValueError when it isn't one."""
    match = _NUMBER.match(str(value))
    if not match:
        raise ValueError(f"{value!r} is not a quantity such as 500m or 16Gi")
    number, suffix = match.groups()
    if suffix in _BINARY:
        return Decimal(number) * Decimal(2 ** _BINARY[suffix])
    if suffix in _DECIMAL:
        return Decimal(number).scaleb(_DECIMAL[suffix])
    raise ValueError(f"{value!r} has the unknown suffix {suffix!r}")
