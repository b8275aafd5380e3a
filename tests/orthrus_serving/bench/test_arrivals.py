"""When the requests of an open loop are due."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.bench.work.arrivals import parse_arrivals
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase, parse_phases
from orthrus_serving.bench.work.plan import drawn_plan, read_trace
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.bench.test_work import drawn

FORMS = ["poisson", "constant", "gamma:3", "gamma:0.5", "burst:8"]


def times(form: str, rate: float, count: int, seed: int = 0) -> list[float]:
    return list(itertools.islice(parse_arrivals(form, rate)(np.random.default_rng(seed)), count))


@given(form=st.sampled_from(FORMS), rate=st.floats(0.1, 1000), seed=st.integers(0, 99))
def test_times_ascend_and_a_seed_fixes_them(form: str, rate: float, seed: int) -> None:
    found = times(form, rate, 50, seed)
    assert found == sorted(found)
    assert found[0] >= 0
    assert found == times(form, rate, 50, seed)


@pytest.mark.parametrize("form", FORMS)
def test_the_rate_is_kept(form: str) -> None:
    count = 40_000
    assert times(form, 5.0, count)[-1] == pytest.approx(count / 5.0, rel=0.05)


@pytest.mark.parametrize(("form", "cv"), [("poisson", 1.0), ("gamma:3", 3.0), ("constant", 0.0)])
def test_gaps_vary_as_they_should(form: str, cv: float) -> None:
    gaps = np.diff(times(form, 2.0, 40_000))
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.1, abs=1e-9)


def test_a_burst_comes_at_one_instant() -> None:
    found = times("burst:8", 4.0, 80)
    assert len(set(found)) == 10


@pytest.mark.parametrize(
    ("form", "rate"), [("x", 1), ("gamma:0", 1), ("poisson", 0), ("burst:y", 1), ("burst:0.5", 1)]
)
def test_arrivals_that_make_no_sense_are_told_how_to_be_written(form: str, rate: float) -> None:
    with pytest.raises(ValueError, match="write poisson"):
        parse_arrivals(form, rate)


def test_a_plan_has_the_mix_of_each_phase_and_the_first_in_its_warm_up() -> None:
    workload = Workload(drawn(), parse_phases("100@10%,100@90%"), Unit.REQUESTS, seed=3)
    plan = list(drawn_plan(workload, 50.0, parse_arrivals("poisson", 20.0)))
    assert all(0 <= planned.at < 250 for planned in plan)
    for start, end, share in ((0, 50, 0.1), (50, 150, 0.1), (150, 250, 0.9)):
        tasks = [p.request.task for p in plan if start <= p.at < end]
        assert tasks.count(Task.GENERATION) / len(tasks) == pytest.approx(share, abs=0.02)


def test_a_rate_does_not_change_which_requests_come() -> None:
    workload = Workload(drawn(), [Phase(20.0, parse_mix("5:5"))], Unit.REQUESTS, seed=3)
    slow = [p.request for p in drawn_plan(workload, 0.0, parse_arrivals("poisson", 1.0))]
    fast = [p.request for p in drawn_plan(workload, 0.0, parse_arrivals("poisson", 9.0))]
    assert slow == fast[: len(slow)]


def trace(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_a_trace_is_read(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        {"at": 0, "task": "generation", "prompt_tokens": 12, "max_tokens": 3},
        {"at": 0.5, "task": "embedding", "prompt": "a river"},
    )
    first, second = read_trace(path, drawn(), seed=0)  # type: ignore[arg-type]
    assert (first.at, len(first.request.prompt), first.request.max_tokens) == (0.0, 12, 3)
    assert (second.at, second.request.prompt) == (0.5, "a river")
    assert [first, second] == read_trace(path, drawn(), seed=0)  # type: ignore[arg-type]
    assert read_trace(path, drawn(), seed=0, nonce=1)[0].request.prompt != first.request.prompt  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{"task": "embedding", "prompt": "no time"}],
        [{"at": 1, "prompt": "x"}, {"at": 0.5, "prompt": "backwards"}],
        [{"at": 1, "task": "embedding"}],
    ],
)
def test_a_trace_that_makes_no_sense_is_refused(tmp_path: Path, lines: list[object]) -> None:
    with pytest.raises(ValueError, match=r"trace\.jsonl"):
        read_trace(trace(tmp_path, *lines), drawn(), seed=0)  # type: ignore[arg-type]
