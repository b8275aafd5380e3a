"""The comparisons of the paper, one function each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orthrus_serving.bench.measure.ratios import Goal
from orthrus_serving.bench.measure.spread import LEAST_FOR_P99
from orthrus_serving.bench.suite.acceptance import acceptance, beside_sharing
from orthrus_serving.bench.suite.beside import Beside, Rows, each_task, mixed, whole_queries
from orthrus_serving.bench.suite.cell import (
    Cell,
    iter_retgen,
    mix,
    phases,
    side_by_side,
    worst_case,
)
from orthrus_serving.bench.suite.engine import Kind
from orthrus_serving.bench.suite.preset import Plan, Preset, Setting, Trial
from orthrus_serving.bench.suite.system import System, dedicated, only, orthrus, policy

_CLIENTS = (1, 4, 16, 64, 256)
_LOADS = (8, 32, 128)
_CHUNKS_IN_BUDGET = (16, 8, 4, 2, 1)
_BUDGETS_IN_LENGTHS = (1, 2, 4)
_WORST_CASE_REQUESTS = 100
_WORST_CASE_SECONDS = 600.0
_LONG_DECODES = (64, 256, 1024)
_LONG_DECODE_CLIENTS = 2
"""Of each task."""
_LONG_DECODE_SECONDS = 600.0
"""At most, for a warm-up and for a window: one long answer takes minutes on a core."""
_TAIL_SECONDS = 180.0
"""At most, for as many generations as a p99 needs."""
_QUERIES, _PASSAGES, _QUERY_CLIENTS = 40, 200, 8


def policies(setting: Setting) -> Plan:
    """Mixes under Intra-Batch Scheduling, beside the paper's Unified-Hetero and Unified-Homo."""
    count = setting.devices.count
    baselines = [
        policy(count, "fcfs", "unified-hetero"),
        policy(count, "homogeneous", "unified-homo"),
    ]
    cells = [mix(text, setting.work) for text in setting.mixes]
    return against([orthrus(count)], baselines, cells)


def loads(setting: Setting) -> Plan:
    """Mixes at several numbers of clients, beside Dedicated."""
    cells = [mix(text, setting.work, clients) for text in setting.mixes for clients in _LOADS]
    return against([orthrus(setting.devices.count)], [_split(setting)], cells)


def phase_changes(setting: Setting) -> Plan:
    """The share of generation goes from 10 % to 50 % to 90 %."""
    seconds = setting.work.bounds.window
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
    """Longer and longer answers under a light load: embeddings must not feel them.

    Each task has clients of its own: in one closed loop long answers would hold all clients, and
    fewer embeddings would be sent.
    """
    most = _LONG_DECODE_SECONDS
    bounds = replace(setting.work.bounds, warm_up_most=most, window_most=most)
    cells = [
        side_by_side(
            f"{length} output tokens",
            _LONG_DECODE_CLIENTS,
            replace(setting.work, output_tokens=str(length), bounds=bounds),
        )
        for length in _LONG_DECODES
        if length < setting.model.length
    ]
    return against([orthrus(setting.devices.count)], [_split(setting)], cells, each_task)


def inter_token(setting: Setting) -> Plan:
    """Throughput against generation p99 over the inter-token target, at 9:1, beside Dedicated."""
    count = setting.devices.count
    bounds = replace(setting.work.bounds, window_most=_TAIL_SECONDS, answers=LEAST_FOR_P99)
    cell = mix("9:1", replace(setting.work, bounds=bounds))
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
            row
            for system in systems
            for row in mixed(
                Beside(figures, system, split, cell),
                throughput=Goal("at least", 1.1),
                tail=Goal("at most", 2.0),
            )
        ],
    )


def retgen(setting: Setting) -> Plan:
    """Iterative retrieval-generation over real text, beside Dedicated."""
    cell = iter_retgen(_QUERIES, _PASSAGES, _QUERY_CLIENTS, setting.work)
    return against([orthrus(setting.devices.count)], [_split(setting)], [cell], whole_queries)


PRESETS: Mapping[str, Preset] = {
    "acceptance": acceptance,
    "sharing": beside_sharing,
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


def against(
    systems: Sequence[System],
    baselines: Sequence[System],
    cells: Sequence[Cell],
    rows: Rows = mixed,
) -> Plan:
    """Each system beside each baseline under each load."""
    return Plan(
        [Trial(system, cell) for cell in cells for system in (*systems, *baselines)],
        lambda figures: [
            row
            for cell in cells
            for system in systems
            for baseline in baselines
            for row in rows(Beside(figures, system, baseline, cell))
        ],
    )


def _split(setting: Setting) -> System:
    return dedicated(setting.devices.count, setting.devices.count // 2)
