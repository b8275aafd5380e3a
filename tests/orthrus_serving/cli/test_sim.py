"""`orthrus sim`: what users type and see."""

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, start_http_server

from orthrus_serving.cli.commands import run

SMALL = ["--seconds", "5", "--clients", "8", "--output-tokens", "16"]


def sim(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What it prints, on standard error for a failure."""
    assert run(["sim", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_run_shows_both_tasks_and_says_that_it_simulates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = sim(capsys, "run", *SMALL)
    assert "SIMULATED: unified 1, ibs" in shown
    assert "embedding" in shown
    assert "generation" in shown


def test_the_json_has_settings_seed_and_figures_and_depends_on_the_seed_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = []
    for seed in ("1", "1", "2"):
        path = tmp_path / "found.json"
        sim(capsys, "run", *SMALL, "--seed", seed, "--output", str(path))
        found.append(json.loads(path.read_text()))
    assert found[0] == found[1]
    assert found[0]["results"] != found[2]["results"]
    assert found[0]["simulated"] is True
    assert found[0]["settings"]["seed"] == 1
    assert found[0]["settings"]["setup"]["kind"]["settings"]["policy"] == "ibs"
    assert found[0]["results"]["generation"]["latency"]["p99"] > 0


def test_a_number_of_requests_is_sent_and_answered_however_long_it_takes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    slow = ["--linear-cost", "1000:0:0", "--kv-cache-tokens", "10000", "--clients", "1"]
    sim(capsys, "run", "--mix", "1:0", "--requests", "500", *slow, "--output", str(found))
    results = json.loads(found.read_text())["results"]
    assert results["embedding"]["requests"] == results["sent"] == 500
    assert results["end"] == pytest.approx(500)


@pytest.mark.parametrize(
    ("layout", "replicas", "pools"),
    [("dedicated", "1:3", ("embedding", "generation")), ("disaggregated", "1:1", ("decode",))],
)
def test_layouts_show_their_pools(
    capsys: pytest.CaptureFixture[str], layout: str, replicas: str, pools: tuple[str, ...]
) -> None:
    shown = sim(capsys, "run", *SMALL, "--layout", layout, "--replicas", replicas)
    assert all(pool in shown for pool in pools)


def test_fleet_has_a_row_for_each_size_and_router(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--warm-up", "1", "--seconds", "4", "--least-replicas", "8", "--output-tokens", "16"]
    shown = sim(capsys, "fleet", "--sizes", "1,16", *few, "--markdown")
    rows = [line.split(" | ") for line in shown.splitlines() if "loaded" in line or "rand" in line]
    assert [row[:3] for row in rows] == [
        ["| 1", "random", "8"],
        ["| 1", "least-loaded", "8"],
        ["| 16", "random", "1"],
        ["| 16", "least-loaded", "1"],
    ]
    assert (
        "At every size 1 s of warm-up, then 4 s that count: about 32 requests per replica" in shown
    )


def test_scale_shows_what_a_slow_start_costs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "found.json"
    slow_machine = ["--linear-cost", "10:1:0", "--kv-cache-tokens", "10000"]
    load = ["--phases", "1:30", "20:60", "--output-tokens", "4"]
    load += ["--backlog-tokens-per-replica", "2000", *slow_machine]
    sim(capsys, "scale", *load, "--load-seconds", "1,90", "--output", str(path))
    quick, slow = json.loads(path.read_text())["results"]
    assert len(quick["sizes"]) > 1
    latencies = [each["report"]["embedding"]["latency"]["p99"] for each in (quick, slow)]
    assert latencies[0] < latencies[1]


def test_packing_shows_the_paper_beside_the_settings_fixed_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = sim(capsys, "packing", "--iterations", "20")
    assert "settings fixed before the run" in shown
    assert "alone True" in shown


def test_costs_of_ones_own_take_the_place_of_the_roofline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    load = ["--mix", "1:0", "--clients", "1", "--seconds", "20.5"]
    machine = ["--linear-cost", "1000:0:0", "--kv-cache-tokens", "10000"]
    sim(capsys, "run", *load, *machine, "--output", str(found))
    embedding = json.loads(found.read_text())["results"]["embedding"]
    assert embedding["requests"] == 20
    assert embedding["latency"]["max"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--replicas", "some"], "replicas 'some'"),
        (["run", "--replicas", "1:2"], "unified takes one number"),
        (["run", "--mix", "5"], "mix '5': write two whole numbers"),
        (["run", "--mix", "0:0"], "there would be no requests"),
        (["run", "--output-tokens", "0"], "lengths '0'"),
        (["run", "--seconds", "0"], "--seconds is 0"),
        (["run", "--warm-up", "500"], "--warm-up is 500"),
        (["run", "--requests", "0"], "--requests is 0"),
        (["run", "--clients", "0"], "0 clients"),
        (["run", "--max-num-seqs", "4096"], "must be below the token budget"),
        (["run", "--prompt-tokens", "900000"], "does not fit into the KV space"),
        (["run", "--linear-cost", "1:1:1"], "give --kv-cache-tokens"),
        (["run", "--linear-cost", "1:1", "--kv-cache-tokens", "9"], "three numbers"),
        (["run", "--linear-cost", "0:1:1", "--kv-cache-tokens", "9"], "a step takes time"),
        (["fleet", "--sizes", "1,two"], "sizes '1,two'"),
        (["fleet", "--rate-per-replica", "-1"], "--rate-per-replica is -1"),
        (["fleet", "--seconds", "0"], "the latter above 0"),
        (["scale", "--phases", "8"], "phase '8'"),
        (["scale", "--min-replicas", "0"], "1 <= min <= max"),
        (["packing", "--iterations", "0"], "--iterations is 0"),
    ],
)
def test_bad_input_is_refused_with_what_is_wrong(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    shown = sim(capsys, *arguments, code=2)
    assert message in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "fleet", "scale", "packing", "paper"])
def test_every_command_explains_its_flags(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["sim", command, "--help"])
    assert ended.value.code == 0
    assert "--output" in capsys.readouterr().out


def test_calibrate_needs_a_replica(capsys: pytest.CaptureFixture[str]) -> None:
    shown = sim(capsys, "calibrate", "http://127.0.0.1:9", "--seconds", "1", code=2)
    assert "http://127.0.0.1:9" in shown
    assert "Traceback" not in shown


def test_calibrate_tells_a_server_that_is_no_replica(capsys: pytest.CaptureFixture[str]) -> None:
    server, _ = start_http_server(0, "127.0.0.1", registry=CollectorRegistry())
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        shown = sim(capsys, "calibrate", url, "--no-load", "--seconds", "1", code=2)
    finally:
        server.shutdown()
    assert "has no orthrus_scheduled_tokens_total: is it a replica?" in shown
