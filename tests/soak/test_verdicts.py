"""What the soak counts as a failure."""

import pytest

from e2e.soak.memory import slope
from e2e.soak.requests import ABANDONED, COMING_AND_GOING, STUCK, is_failure


@pytest.mark.parametrize(
    ("kind", "outcome", "failure"),
    [
        ("embedding", "200", False),
        ("embedding", "429", False),
        ("embedding", "400", True),
        ("embedding", "500", True),
        ("embedding", STUCK, True),
        ("embedding", "ReadError", True),
        ("embedding", ABANDONED, True),
        ("abandoned stream", ABANDONED, False),
        ("abandoned stream", "200", False),
        ("abandoned stream", "503", True),
        (COMING_AND_GOING, "404", False),
        (COMING_AND_GOING, "503", True),
        ("adapter embedding", "404", True),
        ("adapter load", "400", True),
        ("bad request", "404", False),
        ("bad request", "200", True),
        ("bad request", "500", True),
    ],
)
def test_an_outcome_is_judged_by_what_was_asked(kind: str, outcome: str, failure: bool) -> None:
    assert is_failure(kind, outcome) == failure


def test_growth_is_the_slope_in_mib_for_each_ten_minutes() -> None:
    steady = [(10.0 * i, 500.0 + i % 2) for i in range(60)]
    leaking = [(s, m + s / 600 * 3) for s, m in steady]

    assert abs(slope(steady)) < 0.5
    assert slope(leaking) - slope(steady) == pytest.approx(3)
