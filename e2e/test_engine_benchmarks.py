"""Each benchmark of `make bench-engine` runs to its end, once; what it measured is not judged."""

import math

import pytest

from e2e.engine_benchmarks.__main__ import Benchmark, runs_of

pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.mark.parametrize("benchmark", Benchmark)
def test_a_benchmark_measures_one_pair(benchmark: Benchmark) -> None:
    comparisons = runs_of(1)[benchmark]()
    assert comparisons
    for comparison in comparisons:
        (ratio,) = comparison.ratios
        assert math.isfinite(ratio), comparison.name
        assert ratio > 0, comparison.name
