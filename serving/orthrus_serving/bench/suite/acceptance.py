"""The acceptance pairs: Orthrus beside what its devices could do and beside the alternatives."""

from collections.abc import Sequence

from orthrus_serving.bench.measure.ratios import Comparison, Goal
from orthrus_serving.bench.suite.cell import mix
from orthrus_serving.bench.suite.engine import Kind
from orthrus_serving.bench.suite.figures import Figures, ratios
from orthrus_serving.bench.suite.limit import share_of_limit
from orthrus_serving.bench.suite.preset import Plan, Setting, Trial
from orthrus_serving.bench.suite.system import System, dedicated, only, orthrus, sharing
from orthrus_serving.scheduling.task import Task

MIXES = ("9:1", "5:5", "1:9")
_ALONE = {Task.EMBEDDING: ("only pooling", "1:0"), Task.GENERATION: ("only generate", "0:1")}


def acceptance(setting: Setting) -> Plan:
    """Three mixes, each beside its work-conserving limit, Dedicated, and engines that share."""
    devices = setting.devices
    split = dedicated(devices.count, devices.count // 2)
    shared = sharing(devices.sharing_groups)
    mixed = [orthrus(devices.count), split, shared]
    trials = [*alone(setting), *_all_mixes(setting, mixed)]
    return Plan(trials, lambda figures: _compare(figures, split, shared))


def alone(setting: Setting) -> list[Trial]:
    """Each task on all devices: what the limits are made of."""
    kinds = {Task.EMBEDDING: Kind.POOLING, Task.GENERATION: Kind.GENERATE}
    return [
        Trial(only(setting.devices.count, kinds[task]), mix(cell, setting.work))
        for task, (_, cell) in _ALONE.items()
    ]


def shares_of_limit(figures: Figures, system: str, cell: str) -> list[float]:
    """In each round, from the rates of each task alone in the same round; a round in which one of
    these answered nothing has no limit, and is left out."""
    of_rounds = [
        dict(zip(Task, rates, strict=True))
        for rates in zip(*(figures.rates(system, cell, task) for task in Task), strict=True)
    ]
    alone_of_rounds = [
        dict(zip(Task, rates, strict=True))
        for rates in zip(*(figures.rates(*_ALONE[task]) for task in Task), strict=True)
    ]
    return [
        share_of_limit(rates, limits)
        for rates, limits in zip(of_rounds, alone_of_rounds, strict=True)
        if all(limits.values())
    ]


def _all_mixes(setting: Setting, systems: Sequence[System]) -> list[Trial]:
    return [Trial(system, mix(text, setting.work)) for text in MIXES for system in systems]


def _compare(figures: Figures, split: System, shared: System) -> list[Comparison]:
    found: list[Comparison] = []
    for cell in MIXES:
        ours = figures.rates("orthrus", cell)
        found += [
            Comparison(
                f"{cell}, limit",
                "requests per second, Orthrus ÷ the work-conserving limit",
                shares_of_limit(figures, "orthrus", cell),
                Goal("at least", 1.0),
            ),
            Comparison(
                f"{cell}, {split.name}",
                "requests per second, Orthrus ÷ Dedicated",
                ratios(ours, figures.rates(split.name, cell)),
            ),
            *_each_task(figures, split, cell),
            Comparison(
                f"{cell}, {shared.name}",
                "requests per second, Orthrus ÷ two stock engines that share all devices",
                ratios(ours, figures.rates(shared.name, cell)),
                Goal("at least", 1.2),
            ),
        ]
    return found


def _each_task(figures: Figures, split: System, cell: str) -> list[Comparison]:
    return [
        Comparison(
            f"{cell}, {split.name}, {task.value}",
            f"{task.value} requests per second, Orthrus ÷ Dedicated",
            ratios(figures.rates("orthrus", cell, task), figures.rates(split.name, cell, task)),
            Goal("at least", 1.0),
        )
        for task in Task
    ]
