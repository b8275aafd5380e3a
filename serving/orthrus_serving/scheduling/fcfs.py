"""First come, first served over both tasks: the paper's Unified-Hetero baseline."""

from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan


class FirstComeFirstServed:
    """Decodes first, then prefills of both tasks in one order of arrival; no task keeps a place."""

    places_kept = 0

    def plan(self, step: Step) -> StepPlan:
        budget = step.chunk_budget(step.decodes)
        grants = dict[Prefill, int]()
        step.merged_lane(grants).fill(budget)
        return StepPlan(grants, budget)
