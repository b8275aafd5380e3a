"""Which engines a suite starts, what it measures, and what it divides."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.load.load import Load, TimedClients, Trace
from orthrus_serving.bench.load.steady import Bounds
from orthrus_serving.bench.measure.spread import LEAST_FOR_P99
from orthrus_serving.bench.measure.summary import Summary, summarize
from orthrus_serving.bench.measure.window import By, Window
from orthrus_serving.bench.retgen.findings import EXTRA, find
from orthrus_serving.bench.retgen.load import RetGenLoad
from orthrus_serving.bench.retgen.query import Answered, Query
from orthrus_serving.bench.suite.cell import Work, worst_case
from orthrus_serving.bench.suite.devices import CpuDevices, Devices, GpuDevices, find_devices
from orthrus_serving.bench.suite.engine import Engine, Kind
from orthrus_serving.bench.suite.figures import Figures, Measured
from orthrus_serving.bench.suite.fleet import Fleet, leaving
from orthrus_serving.bench.suite.launch import Model, RunningEngine, command, words_of
from orthrus_serving.bench.suite.limit import share_of_limit
from orthrus_serving.bench.suite.page import Conditions, write_report
from orthrus_serving.bench.suite.preset import Plan, Setting
from orthrus_serving.bench.suite.presets import PRESETS
from orthrus_serving.bench.suite.system import dedicated, only, orthrus, sharing
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

MIXES = ("9:1", "5:5", "1:9")
CPU = CpuDevices([[0], [1]], kv_cache_mib=1024, capacity=5)
GPU = GpuDevices(2)
MODEL = Model("model", length=2048, budget=2048, chunk=512, sequences=256)
BOUNDS = Bounds(2, 20, 10, 30, answers=30)
WORK = Work("128", "128", "uniform:16,48", range(1000, 2000), clients=4, bounds=BOUNDS, nonce=0)


def plan(name: str, devices: Devices = CPU, mixes: Sequence[str] = MIXES) -> Plan:
    return PRESETS[name](Setting(devices, MODEL, WORK, targets=[500, 62.5], mixes=mixes))


@pytest.mark.parametrize("devices", [CPU, GPU], ids=["cpu", "gpu"])
@pytest.mark.parametrize("name", PRESETS)
def test_every_system_of_a_preset_has_all_devices_and_serves_what_its_loads_send(
    name: str, devices: Devices
) -> None:
    for trial in plan(name, devices).trials:
        used = {device for engine in trial.system.engines for device in engine.devices}
        assert used == {0, 1}
        for task in trial.cell.load(0).tasks:
            assert trial.system.engines_of(task)
        for device in used:
            on_it = [e.share for e in trial.system.engines if device in e.devices]
            assert sum(on_it) <= 1.0


@pytest.mark.parametrize("name", PRESETS)
def test_the_systems_of_a_round_get_the_same_work(name: str) -> None:
    trials = plan(name).trials
    work: dict[str, list[Request]] = {}
    for trial in trials:
        requests = first_requests(trial.cell.load(3))
        assert work.setdefault(trial.cell.name, requests) == requests
        assert first_requests(trial.cell.load(4)) != requests
    names = [(trial.system.name, trial.cell.name) for trial in trials]
    assert len(names) == len(set(names))


def first_requests(load: Load) -> list[Request]:
    if isinstance(load, Trace):
        return [planned.request for planned in load.planned[:5]]
    if isinstance(load, RetGenLoad):
        return [Request(Task.EMBEDDING, query.question) for query in load.queries[:5]]
    assert isinstance(load, TimedClients)
    return [
        request for each in load.sets for request in itertools.islice(each.workload.requests(0), 5)
    ]


@given(
    embedding=st.floats(0.1, 100),
    generation=st.floats(0.1, 100),
    share=st.floats(0.01, 0.99),
    speed=st.floats(0.1, 2.0),
)
def test_the_share_of_the_limit_is_the_speed_divided_by_the_limit_of_its_mix(
    embedding: float, generation: float, share: float, speed: float
) -> None:
    alone = {Task.EMBEDDING: embedding, Task.GENERATION: generation}
    limit = 1 / ((1 - share) / embedding + share / generation)
    served = {
        Task.EMBEDDING: speed * limit * (1 - share),
        Task.GENERATION: speed * limit * share,
    }
    assert share_of_limit(served, alone) == pytest.approx(speed)


def test_a_dedicated_split_falls_short_of_the_limit() -> None:
    """Two devices, each task alone 2 a second on both: split 1:1, a mix of 9:1 gets 1 + 1/9."""
    alone = {Task.EMBEDDING: 2.0, Task.GENERATION: 2.0}
    served = {Task.EMBEDDING: 1.0, Task.GENERATION: 1 / 9}
    assert share_of_limit(served, alone) == pytest.approx(5 / 9)


def summary(embeddings: int, generations: int) -> Summary:
    window = Window("whole run", 0.0, 10.0)
    outcomes = [Outcome(Task.EMBEDDING, 0.0, 0.0, 1.0)] * embeddings
    outcomes += [Outcome(Task.GENERATION, 0.0, 0.0, 2.0, (1.0, 2.0))] * generations
    return summarize(outcomes, window, By.ENDED, [])


def acceptance_figures(rounds: int = 9) -> Figures:
    """Orthrus at its limit, twice as fast as Dedicated at 9:1 and as fast at 5:5."""
    figures = Figures(rounds=rounds)
    for number in range(rounds):
        add(figures, "only pooling", "1:0", number, summary(100, 0))
        add(figures, "only generate", "0:1", number, summary(0, 100))
        for cell, ours, split in zip(
            MIXES,
            [(90, 10), (50, 50), (10, 90)],
            [(45, 5), (50, 50), (5, 45)],
            strict=True,
        ):
            add(figures, "orthrus", cell, number, summary(*ours))
            add(figures, "dedicated 1-1", cell, number, summary(*split))
            add(figures, "sharing", cell, number, summary(*split))
    return figures


def add(figures: Figures, system: str, cell: str, number: int, found: Summary) -> None:
    figures.add(system, cell, number, Measured(found))


def test_the_acceptance_ratios_are_those_of_the_rates() -> None:
    found = {each.name: each for each in plan("acceptance").compare(acceptance_figures())}
    assert found["9:1, limit"].median == pytest.approx(1.0)
    assert found["9:1, limit"].verdict == "met"
    assert found["9:1, dedicated 1-1"].median == pytest.approx(2.0)
    assert found["5:5, dedicated 1-1, generation"].median == pytest.approx(1.0)
    found = {each.name: each for each in plan("sharing").compare(acceptance_figures())}
    assert found["5:5, sharing"].verdict == "missed"
    assert found["1:9, sharing"].verdict == "met"


def test_one_acceptance_pair_has_its_limit_too() -> None:
    one = plan("acceptance", mixes=["5:5"])
    assert {trial.cell.name for trial in one.trials} == {"1:0", "0:1", "5:5"}
    assert {each.name.split(",")[0] for each in one.compare(acceptance_figures())} == {"5:5"}


def test_acceptance_windows_are_as_long_for_every_system() -> None:
    bounds = {trial.cell.bounds for trial in plan("acceptance").trials}
    assert {(of.window, of.window_most) for of in bounds if of} == {(BOUNDS.window, BOUNDS.window)}


def test_a_report_has_every_ratio_and_every_system(tmp_path: Path) -> None:
    figures = acceptance_figures()
    comparisons = plan("acceptance").compare(figures)
    conditions = Conditions("acceptance", {"nonce": 7}, {"pooling@0": "vllm serve --enforce-eager"})
    write_report(tmp_path, {"cpu": "x"}, conditions, figures, comparisons)
    found = json.loads((tmp_path / "summary.json").read_text())
    assert len(found["comparisons"]) == len(comparisons) == 12
    assert found["comparisons"][0]["median"] == pytest.approx(1.0)
    assert len(found["medians"]) == 11
    assert found["engines"] == {"pooling@0": "vllm serve --enforce-eager"}
    page = (tmp_path / "report.html").read_text()
    assert "data:image/png" in page
    assert "Dedicated" in page
    assert "vllm serve --enforce-eager" in page
    assert "What failed" not in page
    assert (tmp_path / "rates.png").read_bytes().startswith(b"\x89PNG")


def test_a_round_that_failed_keeps_its_place_and_leaves_goals_undecided(tmp_path: Path) -> None:
    """Round 2 of Orthrus and round 3 of the pooling engines, of which the limit is made."""
    figures = acceptance_figures()
    del figures.found["orthrus", "9:1"][1]
    del figures.found["only pooling", "1:0"][2]
    figures.failures.append("round 2, orthrus, 9:1: it ended with code 1")
    comparisons = plan("acceptance").compare(figures)
    found = {each.name: each for each in comparisons}
    assert found["9:1, limit"].dropped == ["round 2: no A", "round 3: no A, no B"]
    assert found["9:1, limit"].ratios == pytest.approx([1.0] * 7)
    assert found["9:1, dedicated 1-1"].dropped == ["round 2: no A"]
    assert found["9:1, dedicated 1-1, embedding"].verdict == "pairs missing"
    assert found["5:5, dedicated 1-1, embedding"].verdict == "met"
    write_report(tmp_path, {}, Conditions("acceptance", {}, {}), figures, comparisons)
    page = (tmp_path / "report.html").read_text()
    assert "it ended with code 1" in page
    assert "round 2: no A" in page
    assert "8 of 9" in page


def test_a_suite_of_which_all_has_failed_still_says_so(tmp_path: Path) -> None:
    figures = Figures(rounds=1, failures=["round 1, orthrus, 9:1: no memory"])
    folder = tmp_path / "acceptance"
    comparisons = plan("acceptance").compare(figures)
    write_report(folder, {}, Conditions("acceptance", {}, {}), figures, comparisons)
    assert "no memory" in (folder / "report.html").read_text()
    assert {each.verdict for each in comparisons} == {"not measured"}


def test_where_nothing_was_answered_there_is_no_ratio() -> None:
    figures = Figures(rounds=1)
    add(figures, "a", "c", 0, summary(3, 0))
    add(figures, "b", "c", 0, summary(0, 3))
    assert figures.percentile("a", "c", Task.GENERATION, "p99") == {0: None}
    found = [figures.percentile(s, "c", Task.GENERATION, "p50") for s in "ab"]
    assert [pair.ratio for pair in figures.pairs(*found)] == [None]
    rates = [figures.rates(s, "c", Task.EMBEDDING) for s in "ab"]
    assert [pair.ratio for pair in figures.pairs(*rates)] == [None]


def test_long_decodes_have_clients_of_their_own_and_each_task_its_figures() -> None:
    of = plan("long-decode")
    load = of.trials[0].cell.load(0)
    assert isinstance(load, TimedClients)
    assert [each.workload.tasks() for each in load.sets] == [{task} for task in Task]
    assert load.sets[0].clients == load.sets[1].clients
    figures = Figures(rounds=1)
    for trial in of.trials:
        add(figures, trial.system.name, trial.cell.name, 0, summary(30, 3))
    rows = [each.meaning for each in of.compare(figures)]
    assert "embedding p50 latency" in rows
    assert "generation requests per second" in rows
    assert "requests per second" not in rows  # of no common mix


def test_iter_retgen_divides_whole_queries() -> None:
    of = plan("iter-retgen")
    figures = Figures(rounds=1)
    for trial, seconds in zip(of.trials, (2.0, 4.0), strict=True):
        queries = [Answered(Query("q", 0), 0.0, seconds, [])]
        findings = find(queries, 0, passages=9, retrieved=3, iterations=0)
        extra = {EXTRA: findings.to_json()}
        kept = Measured(summary(30, 3), extra=extra)
        figures.add(trial.system.name, trial.cell.name, 0, kept)
    found = {each.meaning: each for each in of.compare(figures)}
    assert found["whole-query p50 latency"].ratios == [0.5]
    assert found["queries per second"].ratios == [2.0]
    assert found["whole-query p90 latency"].ratios == [0.5]


def test_a_tail_with_a_goal_is_measured_until_it_has_one() -> None:
    for trial in plan("inter-token").trials:
        load = trial.cell.load(0)
        assert isinstance(load, TimedClients)
        assert load.bounds.answers >= LEAST_FOR_P99


@pytest.mark.parametrize("devices", [CPU, GPU], ids=["cpu", "gpu"])
def test_what_all_engines_run_with_is_equal_and_told(devices: Devices) -> None:
    lines = [words_of(Engine(kind, (0,)), MODEL, devices) for kind in Kind]
    for flag in ("--enforce-eager", "--dtype=float32"):
        assert len({flag in line for line in lines}) == 1
        assert (flag in lines[0]) == (flag in devices.remark)


def test_the_worst_case_is_all_generations_then_all_embeddings_at_once() -> None:
    load = worst_case(5, WORK, drain=60).load(0)
    assert isinstance(load, Trace)
    planned = load.planned
    assert {p.at for p in planned} == {0.0}
    assert [p.request.task for p in planned] == [Task.GENERATION] * 5 + [Task.EMBEDDING] * 5


def test_stock_engines_have_no_flag_of_ours_and_all_have_the_same_sizes() -> None:
    lines = {
        kind: command(Engine(kind, (0,)), MODEL, CPU, 8000)
        for kind in (Kind.ORTHRUS, Kind.GENERATE, Kind.POOLING)
    }
    assert lines[Kind.ORTHRUS][0].endswith("/orthrus")
    assert "--embedding-chunk-tokens=512" in lines[Kind.ORTHRUS]
    for kind in (Kind.GENERATE, Kind.POOLING):
        assert lines[kind][0].endswith("/vllm")
        assert not [flag for flag in lines[kind] if "embedding" in flag]
    sizes = {kind: [flag for flag in line if "max-" in flag] for kind, line in lines.items()}
    assert sizes[Kind.ORTHRUS] == sizes[Kind.GENERATE] == sizes[Kind.POOLING]


def test_an_engine_keeps_to_its_devices() -> None:
    one, both = Engine(Kind.ORTHRUS, (1,)), Engine(Kind.GENERATE, (0, 1), share=0.5)
    assert CPU.cores(one) == [1]
    assert CPU.variables(both)["VLLM_CPU_OMP_THREADS_BIND"] == "0,1"
    assert GPU.variables(one) == {"CUDA_VISIBLE_DEVICES": "1"}
    assert GPU.flags(Engine(Kind.GENERATE, (0,), share=0.5)) == ["--gpu-memory-utilization=0.45"]


def test_two_engines_that_share_have_one_gpu_each_time_and_all_cores() -> None:
    assert [e.devices for e in sharing(CPU.sharing_groups).engines] == [(0, 1), (0, 1)]
    assert [e.devices for e in sharing(GPU.sharing_groups).engines] == [(0,), (0,), (1,), (1,)]


def test_a_split_gives_each_task_a_device() -> None:
    assert [e.kind for e in dedicated(4, 1).engines] == [Kind.POOLING] + [Kind.GENERATE] * 3
    for pooling in (0, 2):
        with pytest.raises(ValueError, match="without a device"):
            dedicated(2, pooling)


def test_one_device_is_enough_for_one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3})
    assert find_devices(None, kv_cache_mib=1024, engines_per_device=1, least=1).count == 1
    with pytest.raises(ValueError, match="2 are needed"):
        find_devices(None, kv_cache_mib=1024, engines_per_device=5)


def test_cores_are_split_into_equal_devices() -> None:
    with pytest.raises(ValueError, match="10000 devices"):
        find_devices(10_000, kv_cache_mib=1024, engines_per_device=5)


@dataclass
class Started:
    """Engines as a fleet starts and stops them; a real one takes half a minute."""

    running: set[Engine] = field(default_factory=set)
    starts: list[Engine] = field(default_factory=list)

    def __call__(self, engine: Engine) -> RunningEngine:
        self.running.add(engine)
        self.starts.append(engine)
        return _Stub(engine, self.running)  # type: ignore[return-value]


@dataclass
class _Stub:
    engine: Engine
    running: set[Engine]
    url: str = "http://engine"

    def wait_serving(self) -> None: ...

    def check(self) -> None: ...

    def ask_to_end(self) -> None: ...

    def stop(self) -> None:
        self.running.remove(self.engine)


def systems() -> list[tuple[Engine, ...]]:
    return [
        system.engines
        for system in (
            orthrus(2),
            orthrus(2, "fcfs", "--batch-policy=fcfs"),
            dedicated(2, 1),
            only(2, Kind.POOLING),
            sharing(GPU.sharing_groups),
        )
    ]


@given(order=st.lists(st.sampled_from(range(5)), min_size=1, max_size=12))
def test_engines_on_gpus_take_turns_and_never_fill_one_twice(order: list[int]) -> None:
    started = Started()
    with Fleet(GPU, started) as fleet:
        for number in order:
            wanted = systems()[number]
            fleet.urls(wanted)
            assert set(wanted) <= started.running
            for device in (0, 1):
                assert sum(e.share for e in started.running if device in e.devices) <= 1.0
    assert not started.running


def test_engines_on_cores_stay_and_systems_share_them() -> None:
    started = Started()
    with Fleet(CPU, started) as fleet:
        for engines in itertools.chain(systems(), systems()):
            fleet.urls(engines)
        assert len(started.starts) == len(set(started.starts)) == len(started.running)
    assert not started.running


def test_the_engine_used_longest_ago_leaves_first() -> None:
    old, new, wanted = (Engine(kind, (0,), share=0.5) for kind in Kind)
    assert leaving([old, new], [wanted], capacity=1.0) == [old]
    assert leaving([old, new], [new], capacity=1.0) == []
    assert leaving([old], [wanted], capacity=float("inf")) == []
