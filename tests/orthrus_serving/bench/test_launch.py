"""Engines as processes: what starts, measures and ends them, with stand-ins that serve at once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil
import pytest
from rich.console import Console

from e2e.waiting import wait_until
from orthrus_serving.bench.load.steady import Bounds
from orthrus_serving.bench.measure.result import read_result
from orthrus_serving.bench.suite.cell import Work, mix
from orthrus_serving.bench.suite.devices import CpuDevices
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.kept import SUMMARY, read_kept
from orthrus_serving.bench.suite.launch import Model, launch
from orthrus_serving.bench.suite.preset import Plan, Trial
from orthrus_serving.bench.suite.replicas import replicas
from orthrus_serving.bench.suite.runner import Runner, file_of
from orthrus_serving.bench.suite.system import dedicated, orthrus
from orthrus_serving.bench.suite.vllm_name import vllm_variables
from tests.orthrus_serving.bench.stand_in import DIES, LAST_WORDS

ROOT = Path(__file__).parents[3]
CORES = sorted(os.sched_getaffinity(0))
DEVICES = CpuDevices([[CORES[0]], [CORES[-1]]], kv_cache_mib=1024, capacity=5)
MODEL = Model("model", length=64, budget=64, chunk=16, sequences=8)
BOUNDS = Bounds(warm_up=0.0, warm_up_most=5.0, window=0.4, window_most=0.4, answers=1)
WORK = Work("8", "8", "2", range(1000, 2000), clients=4, bounds=BOUNDS, nonce=0)
SYSTEMS = (orthrus(2), dedicated(2, 1))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(CORES) < 2, reason="engines need two devices"),
]


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Path]:
    """A folder with a stand-in for each program; the interpreter seems to be there too. What a
    failed test leaves running ends."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("vllm", "orthrus"):
        script = folder / name
        paths = [str(ROOT), str(ROOT / "serving")]
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path[:0] = {paths}\n"
            "from tests.orthrus_serving.bench.stand_in import main\nmain()\n"
        )
        script.chmod(0o755)
    yield folder
    for log in filter(Path.read_text, tmp_path.rglob("*.log")):
        for pid in (said(log)["pid"], said(log)["beside"]):
            with suppress(ProcessLookupError):
                os.kill(int(str(pid)), signal.SIGKILL)


@pytest.fixture
def stand_ins(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(programs / "python"))


PLAN = Plan([Trial(system, mix("5:5", WORK)) for system in SYSTEMS], lambda _: [])
SETTINGS = {"nonce": 0, "clients": WORK.clients}


def run(
    folder: Path,
    rounds: int,
    finished: Callable[[Figures], None] = lambda _: None,
    kept: Figures | None = None,
) -> tuple[Figures, list[set[int]]]:
    """Two systems at 5:5; also the processes that are there after each round."""
    alive: list[set[int]] = []
    figures = kept or Figures()

    def after_round(figures: Figures) -> None:
        alive.append(engine_processes(folder))
        finished(figures)

    start = partial(launch, model=MODEL, devices=DEVICES, logs=folder / "logs")
    with Fleet(DEVICES, start) as fleet:
        runner = Runner(fleet, folder, SETTINGS, Console(quiet=True))
        runner.run(PLAN, rounds, after_round, figures)
    return figures, alive


def said(log: Path) -> dict[str, object]:
    """The first line of a stand-in."""
    return dict(json.loads(log.read_text().splitlines()[0]))


def engine_processes(folder: Path) -> set[int]:
    """Of those beside stand-ins, the ones that run."""
    logs = filter(Path.read_text, (folder / "logs").glob("*.log"))
    beside = {int(str(said(log)["beside"])) for log in logs}
    return {pid for pid in beside if runs(pid)}


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.usefixtures("stand_ins")
def test_every_system_is_measured_on_engines_of_its_own_and_none_stays(tmp_path: Path) -> None:
    figures, alive = run(tmp_path, rounds=2)
    assert figures.failures == []
    for system in SYSTEMS:
        for number in range(2):
            found = read_result(tmp_path / system.name / "5:5" / f"round-{number:02}.json")
            tasks = found["windows"][0]["tasks"]
            assert tasks["embedding"]["answered"] > 0 < tasks["generation"]["answered"]
            assert found["settings"]["engines"] == [engine.name for engine in system.engines]
    logs = sorted(log.name for log in (tmp_path / "logs").iterdir())
    assert logs == ["generate@1.log", "orthrus@0.log", "orthrus@1.log", "pooling@0.log"]
    for log in (tmp_path / "logs").iterdir():
        device = int(log.stem.partition("@")[2])
        assert said(log)["cores"] == list(DEVICES.groups[device])
    assert [len(each) for each in alive] == [4, 4]
    assert engine_processes(tmp_path) == set()


@pytest.mark.usefixtures("stand_ins")
def test_a_suite_goes_on_after_the_last_whole_round(tmp_path: Path) -> None:
    """Round 2 was interrupted: its first system has a result, which is measured again."""
    run(tmp_path, rounds=2)
    before = [file_of(tmp_path, trial, 0).read_bytes() for trial in PLAN.trials]
    interrupted = file_of(tmp_path, PLAN.trials[0], 1).read_bytes()
    file_of(tmp_path, PLAN.trials[1], 1).unlink()
    failure = {"failures": ["before round 1: it has failed"]}
    (tmp_path / SUMMARY).write_text(json.dumps(failure))
    kept = read_kept(tmp_path, PLAN, SETTINGS, rounds=3)
    assert {system: set(found) for system, found in kept.found.items()} == {
        (system.name, "5:5"): {0} for system in SYSTEMS
    }
    rounds: list[int] = []
    figures, _ = run(tmp_path, 3, lambda figures: rounds.append(figures.rounds), kept)
    assert rounds == [2, 3]
    assert figures.failures == failure["failures"]
    assert [file_of(tmp_path, trial, 0).read_bytes() for trial in PLAN.trials] == before
    # The times in it differ, where rates of a few answers may be equal.
    assert file_of(tmp_path, PLAN.trials[0], 1).read_bytes() != interrupted
    for system in SYSTEMS:
        assert set(figures.rates(system.name, "5:5")) == {0, 1, 2}


@pytest.mark.usefixtures("stand_ins")
def test_a_suite_does_not_go_on_with_rounds_of_other_settings(tmp_path: Path) -> None:
    run(tmp_path, rounds=1)
    for name, other in (("clients", {"clients": 5}), ("sequences", {"sequences": 2})):
        with pytest.raises(ValueError, match=f"another {name}: give the same options"):
            read_kept(tmp_path, PLAN, SETTINGS | other, rounds=1)
    assert read_kept(tmp_path, PLAN, SETTINGS | {"nonce": 1}, rounds=1).rounds == 1


@pytest.mark.usefixtures("stand_ins")
def test_a_crash_ends_its_cell_and_not_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIES, "orthrus:6")
    figures, alive = run(tmp_path, rounds=2)
    of_cells = [failure for failure in figures.failures if not failure.startswith("before")]
    for number, failure in enumerate(of_cells, start=1):
        assert failure.startswith(f"round {number}, orthrus, 5:5: orthrus@")
        assert "ended with code 3" in failure
        assert failure.endswith(LAST_WORDS)
    assert len(of_cells) == 2
    assert figures.rates("orthrus", "5:5") == {}
    assert set(figures.rates("dedicated 1-1", "5:5")) == {0, 1}
    # What the crashed engine left is gone at once; its neighbour may have crashed since, too.
    assert all(len(each) <= 3 for each in alive)
    assert engine_processes(tmp_path) == set()
    assert list((tmp_path / "logs").glob("orthrus@*-2.log"))  # and the log of the first is kept


@pytest.mark.usefixtures("stand_ins")
def test_a_crash_while_others_are_measured_is_told_and_costs_no_measurement(tmp_path: Path) -> None:
    def crash(figures: Figures) -> None:
        if figures.rounds == 1:
            pid = int(str(said(tmp_path / "logs" / "orthrus@0.log")["pid"]))
            os.kill(pid, signal.SIGKILL)
            wait_until("it has ended", partial(runs, pid), lambda running: not running, within=10)

    figures, _ = run(tmp_path, rounds=2, finished=crash)
    [failure] = figures.failures
    assert failure.startswith("before round 2, dedicated 1-1, 5:5: orthrus@0 ended with code -9")
    assert [set(figures.rates(system.name, "5:5")) for system in SYSTEMS] == [{0, 1}, {0, 1}]


@pytest.mark.usefixtures("stand_ins")
def test_an_engine_that_does_not_start_ends_its_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIES, "orthrus:0")  # at the question whether it serves
    figures, _ = run(tmp_path, rounds=1)
    assert [failure.splitlines()[-1] for failure in figures.failures] == [LAST_WORDS]
    assert set(figures.rates("dedicated 1-1", "5:5")) == {0}
    assert engine_processes(tmp_path) == set()


def test_the_program_vllm_finds_its_package_whatever_that_is_called() -> None:
    """Without a version of `vllm` it ends before it reads its options."""
    code = "from importlib.metadata import version; print(version('vllm'))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | vllm_variables(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("0.32.0")


@pytest.mark.usefixtures("stand_ins")
def test_replicas_of_a_command_serve_on_every_device_and_end_with_it() -> None:
    with replicas("model") as urls:
        assert len(set(urls)) == len(CORES)
        served = [httpx.get(f"{url}/v1/models").status_code for url in urls]
        assert set(served) == {HTTPStatus.OK}
    for url in urls:
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/v1/models")


@pytest.mark.parametrize(
    ("way", "code"),
    [
        (signal.SIGINT, 128 + signal.SIGINT),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
    ids=["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"],
)
def test_whatever_ends_a_suite_ends_its_engines(
    programs: Path, tmp_path: Path, way: signal.Signals, code: int
) -> None:
    """As its user starts it, but for the programs."""
    suite = start_suite(programs, tmp_path)
    try:
        count = partial(serving, tmp_path)
        wait_until("engines serve", count, lambda found: found == 2, within=120, every=0.2)
        assert len(engine_processes(tmp_path)) == 2
        suite.send_signal(way)
        assert suite.wait(60) == code
        left = partial(engine_processes, tmp_path)
        wait_until("engines have ended", left, lambda found: not found, within=30, every=0.1)
    finally:
        suite.terminate()
        suite.wait(60)


def start_suite(programs: Path, folder: Path) -> "subprocess.Popen[bytes]":
    # A test run that was started with nohup or in the background passes on that it ignores these.
    code = (
        f"import signal, sys; sys.executable = {str(programs / 'python')!r}\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from orthrus_serving.bench.cli.app import bench\n"
        f"sys.exit(bench(['suite', 'embedding-only', '--model', 'm', '--output', {str(folder)!r}]))"
    )
    paths = os.pathsep.join([str(ROOT / "serving"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def serving(folder: Path) -> int:
    return sum("Running on" in log.read_text() for log in (folder / "logs").glob("*.log"))
