"""Quantiles as PromQL's histogram_quantile has them."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.top.latency import Buckets

BOUNDS = (0.1, 0.5, 1.0, inf)


def buckets(*counts: float) -> Buckets:
    return Buckets(dict(zip(BOUNDS, counts, strict=True)))


@pytest.mark.parametrize(
    ("counts", "share", "seconds"),
    [
        ((10, 10, 10, 10), 0.5, 0.05),
        ((0, 10, 10, 10), 0.5, 0.3),
        ((5, 5, 10, 10), 0.5, 0.1),
        ((5, 5, 10, 10), 0.99, 0.99),
        ((0, 0, 0, 7), 0.5, 1.0),  # beyond the highest bound
        ((0, 0, 0, 0), 0.5, None),
    ],
)
def test_quantiles(counts: tuple[float, ...], share: float, seconds: float | None) -> None:
    found = buckets(*counts).quantile(share)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_without_a_histogram_there_is_no_quantile() -> None:
    assert Buckets().quantile(0.5) is None


def test_what_came_between_two_looks() -> None:
    assert buckets(3, 4, 6, 9).since(buckets(1, 1, 2, 2)) == buckets(2, 3, 4, 7)
    # It has restarted, and counts from 0 again.
    assert buckets(1, 1, 1, 1).since(buckets(3, 4, 6, 9)) == buckets(1, 1, 1, 1)
    assert buckets(1, 1, 1, 1).since(Buckets()) == buckets(1, 1, 1, 1)


@given(st.lists(st.sampled_from([0.05, 0.3, 0.8, 3.0]), min_size=1), st.floats(0.01, 1))
def test_a_quantile_lies_in_the_bucket_of_its_observation(
    observed: list[float], share: float
) -> None:
    counts = [float(sum(value <= bound for value in observed)) for bound in BOUNDS]
    found = buckets(*counts).quantile(share)
    exact = sorted(observed)[max(0, -int(-share * len(observed) // 1) - 1)]
    assert found is not None
    upper = next(bound for bound in BOUNDS if exact <= bound)
    lower = max([0.0, *(bound for bound in BOUNDS if bound < upper)])
    assert lower <= found <= min(upper, 1.0)
