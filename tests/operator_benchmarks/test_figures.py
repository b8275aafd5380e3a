"""Figures say whether they meet their goal, and end in a file that can be read again."""

import json
from pathlib import Path

import pytest

from e2e.operator_benchmarks.figures import Figure, write


@pytest.mark.parametrize(
    ("value", "goal", "verdict"),
    [(0.0, 0.0, "met"), (1.0, 0.0, "missed"), (60.0, 60.0, "met"), (5.0, None, "-")],
)
def test_a_goal_is_an_upper_bound(value: float, goal: float | None, verdict: str) -> None:
    assert Figure("writes", value, "", goal).verdict == verdict


@pytest.mark.parametrize(
    ("value", "shown"), [(0.01234, "0.0123"), (3.0, "3"), (1234.56, "1,235"), (12.345, "12.3")]
)
def test_numbers_are_shown_with_the_digits_that_count(value: float, shown: str) -> None:
    assert Figure("x", value, "s").cells() == ("x", f"{shown} s", "-", "-")


def test_the_file_has_what_was_measured_on_what(tmp_path: Path) -> None:
    path = tmp_path / "new" / "bench.json"
    write(path, [Figure("x", 2.0, "s", 1.0)], {"environment": {"cores": 2}})
    assert json.loads(path.read_text()) == {
        "environment": {"cores": 2},
        "figures": [{"name": "x", "value": 2.0, "unit": "s", "goal": 1.0, "verdict": "missed"}],
    }
