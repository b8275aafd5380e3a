"""Quantities mean the same number however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.api.quantity import parse_quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1000m", 1),
        ("1.5", Decimal("1.5")),
        (4, 4),
        ("16384Ki", 16 * 2**20),
        ("2Gi", 2 * 2**30),
        ("3k", 3000),
        ("1e3", 1000),
        ("5E", 5 * 10**18),
    ],
)
def test_suffixes(text: int | str, number: int | Decimal) -> None:
    assert parse_quantity(text) == number


@given(st.integers(min_value=0, max_value=10**9))
def test_a_unit_up_is_a_thousand_or_1024_of_the_unit_below(count: int) -> None:
    assert parse_quantity(f"{count}Gi") == parse_quantity(f"{count * 1024}Mi")
    assert parse_quantity(f"{count}") == parse_quantity(f"{count * 1000}m")


@pytest.mark.parametrize("text", ["", "Gi", "4 Gi", "1KiB", "one"])
def test_anything_else_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match=repr(text)):
        parse_quantity(text)
