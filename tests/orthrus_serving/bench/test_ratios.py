"""The statistics behind a benchmark's verdict."""

import pytest

from orthrus_serving.bench.measure.ratios import MIN_PAIRS, Comparison, Goal


def comparison(*ratios: float, goal: Goal | None = None) -> Comparison:
    return Comparison("name", "ours ÷ theirs", ratios, goal)


def test_one_outlier_moves_neither_the_median_nor_its_interval_far() -> None:
    steady = comparison(*[1.0, 1.01, 0.99] * 5)
    disturbed = comparison(*[1.0, 1.01, 0.99] * 5, 9.0)

    assert disturbed.median == pytest.approx(steady.median, abs=0.01)
    assert disturbed.interval[1] < 1.1


def test_the_interval_holds_the_median_and_narrows_with_more_pairs() -> None:
    few, many = [0.8, 1.2, 1.0] * 3, [0.8, 1.2, 1.0] * 30

    low, high = comparison(*few).interval
    assert low <= comparison(*few).median <= high
    narrower = comparison(*many).interval
    assert narrower[1] - narrower[0] <= high - low


def test_equal_ratios_have_an_interval_of_one_point() -> None:
    assert comparison(*[1.5] * MIN_PAIRS).interval == (1.5, 1.5)


@pytest.mark.parametrize(
    ("sense", "bound", "verdict"),
    [
        ("at most", 1.1, "met"),
        ("at most", 0.8, "missed"),
        ("at least", 0.99, "met"),
        ("at least", 1.2, "missed"),
        ("within", 0.03, "met"),
    ],
)
def test_a_goal_is_met_when_the_interval_reaches_it(sense: str, bound: float, verdict: str) -> None:
    goal = Goal(sense, bound)  # type: ignore[arg-type]
    assert comparison(*[0.9, 1.0, 1.1] * 5, goal=goal).verdict == verdict


@pytest.mark.parametrize("ratio", [0.96, 1.04])
def test_a_ratio_beyond_its_tolerance_is_not_within_it(ratio: float) -> None:
    assert comparison(*[ratio] * MIN_PAIRS, goal=Goal("within", 0.03)).verdict == "missed"
    assert comparison(*[ratio] * MIN_PAIRS, goal=Goal("within", 0.05)).verdict == "met"


def test_too_few_pairs_decide_nothing() -> None:
    goal = Goal("at most", 2.0)
    assert comparison(*[1.0] * (MIN_PAIRS - 1), goal=goal).verdict == "too few pairs"
    assert comparison(*[1.0] * MIN_PAIRS).verdict == "-"
