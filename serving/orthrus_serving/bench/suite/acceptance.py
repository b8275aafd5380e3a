"""The acceptance pairs: Orthrus beside what its devices could do and beside the alternatives."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orthrus_serving.bench.measure.ratios import Comparison, Goal, Pair
from orthrus_serving.bench.suite.cell import mix
from orthrus_serving.bench.suite.engine import Kind
from orthrus_serving.bench.suite.figures import Figures
from orthrus_serving.bench.suite.limit import share_of_limit
from orthrus_serving.bench.suite.preset import Plan, Setting, Trial
from orthrus_serving.bench.suite.system import System, dedicated, only, orthrus, sharing
from orthrus_serving.scheduling.task import Task

_ALONE = {Task.EMBEDDING: ("only pooling", "1:0"), Task.GENERATION: ("only generate", "0:1")}

_ANSWERS = 3
"""Its goals are of rates, not of tails, and each closed loop keeps to its mix: a window is as long
for each system, whatever it answers, and so the rounds of a goal fit into an hour."""


def acceptance(given: Setting) -> Plan:
    """Mixes, each beside its work-conserving limit and Dedicated."""
    setting = _of_rates(given)
    devices = setting.devices
    split = dedicated(devices.count, devices.count // 2)
    trials = [*alone(setting), *_all_mixes(setting, [orthrus(devices.count), split])]
    return Plan(trials, lambda figures: _compare(figures, setting.mixes, split))


def beside_sharing(given: Setting) -> Plan:
    """Mixes, each beside two stock engines that share all devices.

    Apart from the other pairs: on cores all their engines together would not fit into memory.
    """
    setting = _of_rates(given)
    devices = setting.devices
    shared = sharing(devices.sharing_groups)
    trials = _all_mixes(setting, [orthrus(devices.count), shared])
    return Plan(trials, lambda figures: _compare_sharing(figures, setting.mixes, shared))


def _of_rates(given: Setting) -> Setting:
    bounds = replace(given.work.bounds, window_most=given.work.bounds.window, answers=_ANSWERS)
    return replace(given, work=replace(given.work, bounds=bounds))


def alone(setting: Setting) -> list[Trial]:
    """Each task on all devices: what the limits are made of."""
    kinds = {Task.EMBEDDING: Kind.POOLING, Task.GENERATION: Kind.GENERATE}
    return [
        Trial(only(setting.devices.count, kinds[task]), mix(cell, setting.work))
        for task, (_, cell) in _ALONE.items()
    ]


def pairs_with_limit(figures: Figures, system: str, cell: str) -> list[Pair]:
    """In each round the speed as a share of the limit, and 1; the limit is that of the rates of
    each task alone in the same round, and there is none where one of these answered nothing."""
    rates = {task: figures.rates(system, cell, task) for task in Task}
    alone = {task: figures.rates(*_ALONE[task]) for task in Task}
    return [
        Pair(f"round {number + 1}", *_share(_of_round(rates, number), _of_round(alone, number)))
        for number in range(figures.rounds)
    ]


def _of_round(rates: Mapping[Task, Mapping[int, float]], number: int) -> Mapping[Task, float]:
    return {task: found[number] for task, found in rates.items() if number in found}


def _share(
    rates: Mapping[Task, float], alone: Mapping[Task, float]
) -> tuple[float | None, float | None]:
    if len(alone) < len(Task) or not all(alone.values()):
        return None, None
    return (share_of_limit(rates, alone) if rates else None), 1.0


def _all_mixes(setting: Setting, systems: Sequence[System]) -> list[Trial]:
    return [Trial(system, mix(text, setting.work)) for text in setting.mixes for system in systems]


def _compare(figures: Figures, mixes: Sequence[str], split: System) -> list[Comparison]:
    found: list[Comparison] = []
    for cell in mixes:
        ours = figures.rates("orthrus", cell)
        found += [
            Comparison.of_pairs(
                f"{cell}, limit",
                "requests per second, Orthrus ÷ the work-conserving limit",
                pairs_with_limit(figures, "orthrus", cell),
                Goal("at least", 1.0),
            ),
            Comparison.of_pairs(
                f"{cell}, {split.name}",
                "requests per second, Orthrus ÷ Dedicated",
                figures.pairs(ours, figures.rates(split.name, cell)),
            ),
            *_each_task(figures, split, cell),
        ]
    return found


def _compare_sharing(figures: Figures, mixes: Sequence[str], shared: System) -> list[Comparison]:
    return [
        Comparison.of_pairs(
            f"{cell}, {shared.name}",
            "requests per second, Orthrus ÷ two stock engines that share all devices",
            figures.pairs(*(figures.rates(s, cell) for s in ("orthrus", shared.name))),
            Goal("at least", 1.2),
        )
        for cell in mixes
    ]


def _each_task(figures: Figures, split: System, cell: str) -> list[Comparison]:
    return [
        Comparison.of_pairs(
            f"{cell}, {split.name}, {task.value}",
            f"{task.value} requests per second, Orthrus ÷ Dedicated",
            figures.pairs(*(figures.rates(s, cell, task) for s in ("orthrus", split.name))),
            Goal("at least", 1.0),
        )
        for task in Task
    ]
