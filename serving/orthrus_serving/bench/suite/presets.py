"""The comparisons of the paper, one function each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.bench.suite.acceptance import MIXES, acceptance
from orthrus_serving.bench.suite.cell import Cell, iter_retgen, mix, phases, worst_case
from orthrus_serving.bench.suite.engine import Kind
from orthrus_serving.bench.suite.figures import Figures, ratios
from orthrus_serving.bench.suite.preset import Plan, Preset, Setting, Trial
from orthrus_serving.bench.suite.system import System, dedicated, only, orthrus, policy
from orthrus_serving.scheduling.task import Task

_CLIENTS = (1, 4, 16, 64, 256)
_LOADS = (8, 32, 128)
_CHUNKS_IN_BUDGET = (16, 8, 4, 2, 1)
_BUDGETS_IN_LENGTHS = (1, 2, 4)
_WORST_CASE_REQUESTS = 100
_WORST_CASE_SECONDS = 600.0
_LONG_DECODES = (64, 256, 1024)
_LONG_DECODE_CLIENTS = 4
_QUERIES, _PASSAGES, _QUERY_CLIENTS = 40, 200, 8


def policies(setting: Setting) -> Plan:
    """Mixes under Intra-Batch Scheduling, beside the paper's Unified-Hetero and Unified-Homo."""
    count = setting.devices.count
    baselines = [
        policy(count, "fcfs", "unified-hetero"),
        policy(count, "homogeneous", "unified-homo"),
    ]
    cells = [mix(text, setting.work) for text in MIXES]
    return against([orthrus(count)], baselines, cells)


def loads(setting: Setting) -> Plan:
    """Mixes at several numbers of clients, beside Dedicated."""
    cells = [mix(text, setting.work, clients) for text in MIXES for clients in _LOADS]
    return against([orthrus(setting.devices.count)], [_split(setting)], cells)


def phase_changes(setting: Setting) -> Plan:
    """The share of generation goes from 10 % to 50 % to 90 %."""
    seconds = setting.work.seconds
    text = ",".join(f"{seconds}@{share}%" for share in (10, 50, 90))
    cell = phases("10, 50, 90 % generation", text, setting.work)
    return against([orthrus(setting.devices.count)], [_split(setting)], [cell])


def worst(setting: Setting) -> Plan:
    """All generations, then all embeddings, at one instant."""
    count = setting.devices.count
    cell = worst_case(_WORST_CASE_REQUESTS, setting.work, _WORST_CASE_SECONDS)
    baselines = [policy(count, "fcfs", "unified-hetero"), _split(setting)]
    return against([orthrus(count)], baselines, [cell])


def generation_only(setting: Setting) -> Plan:
    """No embedding at all, at 1 to 256 clients, beside stock vLLM."""
    count = setting.devices.count
    cells = [mix("0:1", setting.work, clients) for clients in _CLIENTS]
    return against([orthrus(count)], [only(count, Kind.GENERATE)], cells)


def embedding_only(setting: Setting) -> Plan:
    """No generation at all, at 1 to 256 clients, beside stock vLLM."""
    count = setting.devices.count
    cells = [mix("1:0", setting.work, clients) for clients in _CLIENTS]
    return against([orthrus(count)], [only(count, Kind.POOLING)], cells)


def chunk_sweep(setting: Setting) -> Plan:
    """The embedding chunk C, beside the one that the suite uses."""
    count, budget = setting.devices.count, setting.model.budget
    sizes = [budget // part for part in _CHUNKS_IN_BUDGET]
    systems = [orthrus(count, f"C {size}", f"--embedding-chunk-tokens={size}") for size in sizes]
    return against(systems, [orthrus(count)], [mix("5:5", setting.work)])


def budget_sweep(setting: Setting) -> Plan:
    """The token budget B, beside the one that the suite uses."""
    count, length = setting.devices.count, setting.model.length
    sizes = [length * times for times in _BUDGETS_IN_LENGTHS]
    systems = [orthrus(count, f"B {size}", f"--max-num-batched-tokens={size}") for size in sizes]
    return against(systems, [orthrus(count)], [mix("5:5", setting.work)])


def long_decode(setting: Setting) -> Plan:
    """Longer and longer answers under a light load: embeddings must not feel them."""
    room = setting.model.length
    lengths = [length for length in _LONG_DECODES if length < room]
    cells = [
        replace(
            mix("5:5", replace(setting.work, output_tokens=str(n), clients=_LONG_DECODE_CLIENTS)),
            name=f"{n} output tokens",
        )
        for n in lengths
    ]
    return against([orthrus(setting.devices.count)], [_split(setting)], cells)


def inter_token(setting: Setting) -> Plan:
    """Throughput against generation p99 over the inter-token target, at 9:1, beside Dedicated."""
    count, cell = setting.devices.count, mix("9:1", setting.work)
    split = _split(setting)
    systems = [
        orthrus(count),
        *(
            orthrus(count, f"target {millis:g} ms", f"--max-inter-token-millis={millis:g}")
            for millis in setting.targets
        ),
    ]
    return Plan(
        [Trial(system, cell) for system in (split, *systems)],
        lambda figures: [
            each
            for system in systems
            for each in _beside(
                figures,
                system,
                split,
                cell,
                throughput=Goal("at least", 1.1),
                tail=Goal("at most", 2.0),
            )
        ],
    )


def retgen(setting: Setting) -> Plan:
    """Iterative retrieval-generation over real text, beside Dedicated."""
    cell = iter_retgen(_QUERIES, _PASSAGES, _QUERY_CLIENTS, setting.work)
    return against([orthrus(setting.devices.count)], [_split(setting)], [cell])


PRESETS: Mapping[str, Preset] = {
    "acceptance": acceptance,
    "policies": policies,
    "loads": loads,
    "phases": phase_changes,
    "worst-case": worst,
    "generation-only": generation_only,
    "embedding-only": embedding_only,
    "chunk-sweep": chunk_sweep,
    "budget-sweep": budget_sweep,
    "long-decode": long_decode,
    "inter-token": inter_token,
    "iter-retgen": retgen,
}


def against(systems: Sequence[System], baselines: Sequence[System], cells: Sequence[Cell]) -> Plan:
    """Each system beside each baseline under each load."""
    return Plan(
        [Trial(system, cell) for cell in cells for system in (*systems, *baselines)],
        lambda figures: [
            each
            for cell in cells
            for system in systems
            for baseline in baselines
            for each in _beside(figures, system, baseline, cell)
        ],
    )


def _beside(
    figures: Figures,
    system: System,
    baseline: System,
    cell: Cell,
    *,
    throughput: Goal | None = None,
    tail: Goal | None = None,
) -> list[Comparison]:
    name = f"{cell.name}, {system.name} ÷ {baseline.name}"
    rates = (figures.rates(s.name, cell.name) for s in (system, baseline))
    found = [Comparison(name, "requests per second", ratios(*rates), throughput)]
    for task in Task:
        tails = (figures.percentile(s.name, cell.name, task, "p99") for s in (system, baseline))
        if found_ratios := ratios(*tails):
            goal = tail if task is Task.GENERATION else None
            found.append(Comparison(name, f"{task.value} p99 latency", found_ratios, goal))
    return found


def _split(setting: Setting) -> System:
    return dedicated(setting.devices.count, setting.devices.count // 2)
