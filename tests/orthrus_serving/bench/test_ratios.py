"""The statistics behind a benchmark's verdict."""

import pytest

from orthrus_serving.bench.measure.ratios import MIN_PAIRS, Comparison, Goal, Pair
from orthrus_serving.bench.report.ratio_table import cells, described, dropped


def comparison(*ratios: float, goal: Goal | None = None) -> Comparison:
    return Comparison("name", "ours ÷ theirs", ratios, goal)


def measured(*ratios: float) -> tuple[float, float, float]:
    """Median, and both ends of its interval."""
    found = comparison(*ratios)
    assert found.median is not None
    assert found.interval is not None
    return found.median, *found.interval


def test_one_outlier_moves_neither_the_median_nor_its_interval_far() -> None:
    steady, _, _ = measured(*[1.0, 1.01, 0.99] * 5)
    disturbed, _, high = measured(*[1.0, 1.01, 0.99] * 5, 9.0)

    assert disturbed == pytest.approx(steady, abs=0.01)
    assert high < 1.1


def test_the_interval_holds_the_median_and_narrows_with_more_pairs() -> None:
    few, many = [0.8, 1.2, 1.0] * 3, [0.8, 1.2, 1.0] * 30

    median, low, high = measured(*few)
    assert low <= median <= high
    _, narrow_low, narrow_high = measured(*many)
    assert narrow_high - narrow_low <= high - low


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


def test_without_a_pair_there_is_no_figure_and_no_verdict() -> None:
    nothing = comparison(goal=Goal("at least", 1.0))
    assert (nothing.median, nothing.interval, nothing.verdict) == (None, None, "not measured")
    assert cells(nothing)[1:] == ("-", "-", "0", "at least 1", "not measured")
    assert described(nothing)["interval"] is None


def test_a_goal_is_undecided_while_a_pair_is_missing() -> None:
    """The pair that is missing may be just the one that fell below."""
    pairs = [Pair(f"round {n}", 2.0, 1.0) for n in range(MIN_PAIRS)]
    goal = Goal("at least", 1.0)
    whole = Comparison.of_pairs("name", "ours ÷ theirs", pairs, goal)
    assert whole.verdict == "met"
    crashed = [*pairs, Pair("round 9", None, 1.0)]
    found = Comparison.of_pairs("name", "ours ÷ theirs", crashed, goal)
    assert found.verdict == "pairs missing"
    assert found.dropped == ["round 9: no A"]
    assert dropped([whole, found]) == ["name, ours ÷ theirs, in no ratio: round 9: no A"]


@pytest.mark.parametrize(
    ("first", "second", "ratio", "obstacle"),
    [(0.0, 2.0, 0.0, None), (2.0, 0.0, None, "p: B is 0"), (None, None, None, "p: no A, no B")],
)
def test_only_what_cannot_be_divided_is_dropped(
    first: float | None, second: float | None, ratio: float | None, obstacle: str | None
) -> None:
    found = Comparison.of_pairs("name", "A ÷ B", [Pair("p", first, second)])
    assert found.ratios == ([] if ratio is None else [ratio])
    assert found.dropped == ([] if obstacle is None else [obstacle])
