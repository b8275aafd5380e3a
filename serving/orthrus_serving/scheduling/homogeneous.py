"""Steps of one task each: the paper's Unified-Homo baseline."""

from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.task import Task


class Homogeneous:
    """The tasks take turns while both have work; decodes pause in an embedding step."""

    places_kept = 1

    def __init__(self) -> None:
        self._last = Task.GENERATION

    def plan(self, step: Step) -> StepPlan:
        other = next(task for task in Task if task is not self._last)
        plan = _plan_for(other, step)
        if plan.grants or (other is Task.GENERATION and step.decodes):
            self._last = other
            return plan
        return _plan_for(self._last, step)


def _plan_for(task: Task, step: Step) -> StepPlan:
    budget = step.chunk_budget(step.decodes if task is Task.GENERATION else 0)
    grants = dict[Prefill, int]()
    step.lane(task, grants).fill(budget)
    return StepPlan(grants, budget, frozenset({task}))
