"""Figures from outcomes."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.measure.compare import compare, read_pairs
from orthrus_serving.bench.measure.objective import is_good, parse_objective
from orthrus_serving.bench.measure.result import Result, extra, read_result, whole_run
from orthrus_serving.bench.measure.spread import LEAST_FOR_P99, spread
from orthrus_serving.bench.measure.summary import Summary, summarize
from orthrus_serving.bench.measure.window import By, Window
from orthrus_serving.bench.report.page import Section
from orthrus_serving.bench.report.ratio_table import cells
from orthrus_serving.bench.report.summary_table import durations
from orthrus_serving.scheduling.task import Task

WINDOW = Window("whole run", 10.0, 20.0)


def embedding(planned: float, ended: float, error: str | None = None) -> Outcome:
    return Outcome(Task.EMBEDDING, planned, planned, ended, prompt_tokens=100, error=error)


def generation(planned: float, *arrivals: float, tokens: int | None = None) -> Outcome:
    return Outcome(
        Task.GENERATION,
        planned,
        planned,
        arrivals[-1],
        arrivals,
        prompt_tokens=10,
        output_tokens=tokens or len(arrivals),
    )


def summary(*outcomes: Outcome, by: By = By.ENDED, slo: tuple[str, ...] = ()) -> Summary:
    return summarize(outcomes, WINDOW, by, [parse_objective(text) for text in slo])


def test_rates_count_what_ends_in_the_window() -> None:
    found = summary(
        embedding(8, 9.9),  # in the warm-up
        embedding(9, 10),
        embedding(12, 14),
        embedding(19, 20),  # the end is not in it
        generation(5, 9, 11, 12),
    )
    assert found.tasks[Task.EMBEDDING].requests_per_second == pytest.approx(0.2)
    assert found.tasks[Task.EMBEDDING].prompt_tokens_per_second == pytest.approx(20)
    assert found.tasks[Task.GENERATION].output_tokens_per_second == pytest.approx(0.3)
    assert found.requests_per_second == pytest.approx(0.3)
    assert found.embedding_share == pytest.approx(200 / 213)


def test_an_open_loop_measures_the_requests_that_were_due_in_the_window() -> None:
    early, late = embedding(9, 11), embedding(19, 40)
    by_plan = summary(early, late, by=By.PLANNED).tasks[Task.EMBEDDING]
    assert by_plan.latency is not None
    assert (by_plan.answered, by_plan.latency.max) == (1, 21)
    by_end = summary(early, late, by=By.ENDED).tasks[Task.EMBEDDING]
    assert by_end.latency is not None
    assert (by_end.answered, by_end.latency.max) == (1, 2)


def test_failures_are_counted_by_kind_and_have_no_latency() -> None:
    found = summary(
        embedding(11, 12, "HTTP 429"),
        embedding(11, 12, "HTTP 429"),
        embedding(11, 12, "timeout"),
        embedding(11, 15),
    ).tasks[Task.EMBEDDING]
    assert found.errors == {"HTTP 429": 2, "timeout": 1}
    assert found.answered == 1
    assert found.latency is not None
    assert found.latency.p50 == 4


def test_durations_of_a_stream() -> None:
    found = summary(generation(10, 12, 12.5, 14, tokens=5)).tasks[Task.GENERATION]
    assert found.first_token is not None
    assert found.gap is not None
    assert found.seconds_per_token is not None
    assert found.first_token.p50 == 2
    assert (found.gap.count, found.gap.max) == (2, 1.5)
    assert found.seconds_per_token.p50 == pytest.approx(2 / 4)
    assert found.latency is not None
    assert found.latency.max == 4


def test_what_was_not_measured_is_none_and_not_zero() -> None:
    found = summary(embedding(11, 12, "timeout")).tasks[Task.EMBEDDING]
    assert found.latency is found.first_token is found.gap is None
    assert found.good_per_second is None
    assert summary().tasks == {}


def test_goodput_counts_answers_that_meet_every_objective_of_their_task() -> None:
    slo = ("embedding.total=1000", "generation.ttft=1000", "generation.gap=500")
    found = summary(
        embedding(11, 11.5),
        embedding(11, 13),
        embedding(11, 11.1, "timeout"),
        generation(11, 11.5, 12),
        generation(11, 12.5, 12.6),
        generation(11, 11.5, 12.5),
        slo=slo,
    )
    assert found.tasks[Task.EMBEDDING].good_per_second == pytest.approx(0.1)
    assert found.tasks[Task.GENERATION].good_per_second == pytest.approx(0.1)


def test_one_token_meets_any_objective_of_its_pace() -> None:
    assert is_good(generation(10, 12), [parse_objective("generation.tpot=1")])


@pytest.mark.parametrize("text", ["", "ttft=3", "generation.x=3", "generation.ttft=x", "x.ttft=1"])
def test_objectives_that_make_no_sense_are_told_how_to_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="write TASK"):
        parse_objective(text)


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=300))
def test_percentiles_are_ordered_and_lie_among_the_durations(seconds: list[float]) -> None:
    found = spread(seconds)
    assert found is not None
    tail = [] if found.p99 is None else [found.p99]
    ordered = [min(seconds), found.p50, found.p90, *tail, max(seconds)]
    assert ordered == sorted(ordered)
    assert found.max == max(seconds)
    assert (found.p99 is None) == (len(seconds) < LEAST_FOR_P99)
    assert found.count == len(seconds)
    at_most = sum(s <= found.p90 for s in seconds) / len(seconds)
    assert at_most >= 0.9 - 1 / len(seconds)


@pytest.mark.parametrize("count", [LEAST_FOR_P99 - 1, LEAST_FOR_P99])
def test_few_answers_have_no_p99_and_a_reader_is_told_how_few(count: int) -> None:
    found = Result({}, {}, [summary(*[embedding(11, 12)] * count)], []).to_json()
    table = Section.of_table("Durations", durations(found))
    p99 = dict(zip(table.header, table.rows[0], strict=True))["p99"]
    assert p99 == ("n/a (n=99)" if count < LEAST_FOR_P99 else "1000.0")


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0, 30)), max_size=60))
def test_windows_that_follow_one_another_share_the_work_without_loss(
    spans: list[tuple[float, float]],
) -> None:
    outcomes = [embedding(min(span), max(span)) for span in spans]
    windows = [Window("w", 0, 10), Window("w", 10, 20), Window("w", 20, 31)]
    for by in By:
        counts = [
            sum(found.answered for found in summarize(outcomes, w, by, []).tasks.values())
            for w in windows
        ]
        assert sum(counts) == len(outcomes)


def test_how_late_the_client_was_is_told() -> None:
    late = Outcome(Task.EMBEDDING, planned=11, sent=11.2, ended=12)
    found = summary(late, by=By.PLANNED)
    assert found.send_lag is not None
    assert found.send_lag.max == pytest.approx(0.2)
    assert Result({}, {}, [found], []).client_was_late
    punctual = summary(embedding(11, 12), by=By.PLANNED)
    assert not Result({}, {}, [punctual], []).client_was_late


def test_a_closed_loop_has_no_lag_since_it_plans_a_request_when_it_sends_it() -> None:
    assert summary(embedding(11, 12), by=By.ENDED).send_lag is None


def write(path: Path, *outcomes: Outcome) -> None:
    Result({"mix": "1:1"}, {"cpu": "x"}, [summary(*outcomes)], outcomes).write(path)


def test_a_result_survives_its_file(tmp_path: Path) -> None:
    write(tmp_path / "new" / "a.json", embedding(11, 12.5), generation(11, 12, 13))
    found = read_result(tmp_path / "new" / "a.json")
    assert found["windows"][0]["window"] == {"name": "whole run", "start": 10.0, "end": 20.0}
    assert found["windows"][0]["tasks"]["embedding"]["latency"]["p50"] == 1.5
    first, second = found["samples"]
    assert (first["task"], first["first"], first["ended"]) == ("embedding", None, 12.5)
    assert (second["first"], second["longest_gap"]) == (12, 1)


@pytest.mark.parametrize("by", By)
def test_the_summary_of_the_whole_run_is_read_as_it_was_written(tmp_path: Path, by: By) -> None:
    outcomes = [embedding(11, 12.5), generation(11, 12, 13), embedding(12, 13, "timeout")]
    before = summary(*outcomes, by=by, slo=("embedding.total=200",))
    beside = {"iter_retgen": {"lost": 3}}
    Result({}, {}, [before], outcomes, extra=beside).write(tmp_path / "a.json")
    found = read_result(tmp_path / "a.json")
    assert whole_run(found) == before
    assert extra(found) == beside


@pytest.mark.parametrize("text", ["", "{}", '{"format": 99}', "[]"])
def test_another_file_is_no_result(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"x\.json is no result"):
        read_result(path)


def test_folders_are_compared_by_pairs_of_the_same_name(tmp_path: Path) -> None:
    for number in range(9):
        slow = 1.0 + 0.4 * number
        write(tmp_path / "a" / f"{number}.json", embedding(11, 11 + 2 * slow))
        write(tmp_path / "b" / f"{number}.json", embedding(11, 11 + slow))
    write(tmp_path / "b" / "alone.json", embedding(11, 12))
    (tmp_path / "a" / "c").mkdir()
    paired = read_pairs(tmp_path / "a", tmp_path / "b")
    assert paired.alone == [str(tmp_path / "b" / "alone.json")]
    found = {c.name: c for c in compare(paired.pairs)}
    latency = found["embedding end to end p50"]
    assert len(latency.ratios) == 9
    assert latency.ratios == pytest.approx([2.0] * 9)
    assert latency.interval == pytest.approx((2.0, 2.0))
    assert not latency.dropped
    assert "generation requests per second" not in found


def test_each_load_of_a_folder_has_a_median_of_its_own(tmp_path: Path) -> None:
    for load, slow in (("9:1", 2), ("1:9", 4)):
        for number in range(3):
            write(tmp_path / "a" / load / f"{number}.json", embedding(11, 11 + slow))
            write(tmp_path / "b" / load / f"{number}.json", embedding(11, 12))
    found = {c.name: c for c in compare(read_pairs(tmp_path / "a", tmp_path / "b").pairs)}
    assert found["9:1, embedding end to end p50"].median == pytest.approx(2)
    assert found["1:9, embedding end to end p50"].median == pytest.approx(4)
    assert "embedding end to end p50" not in found


def test_a_pair_that_cannot_be_divided_is_named_and_the_others_count(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / "a" / f"{number}.json", embedding(11, 13), generation(11, 12, 13))
        # The second of B answers no generation in its window, the third sends none at all.
        ends = {0: [generation(11, 12, 13)], 1: [generation(19, 20, 21)], 2: []}[number]
        write(tmp_path / "b" / f"{number}.json", embedding(11, 12), *ends)
    found = {c.name: c for c in compare(read_pairs(tmp_path / "a", tmp_path / "b").pairs)}
    rate = found["generation requests per second"]
    assert rate.ratios == [1.0]
    assert rate.dropped == ["1.json: B is 0", "2.json: no B"]
    assert cells(rate)[3] == "1 of 3"
    assert found["embedding end to end p50"].ratios == pytest.approx([2.0] * 3)
    # Too few for a p99: no ratio, and it says so.
    assert found["embedding end to end p99"].dropped == [f"{n}.json: no A, no B" for n in range(3)]


def test_nothing_in_common_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(ValueError, match="no file of the same name"):
        read_pairs(tmp_path / "a", tmp_path / "b")


def test_samples_are_plain_json(tmp_path: Path) -> None:
    write(tmp_path / "a.json", generation(11, 12, 13))
    assert np.isfinite(json.loads((tmp_path / "a.json").read_text())["samples"][0]["ended"])
