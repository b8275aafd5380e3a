"""Intra-Batch Scheduling: tokens in proportion to the work outstanding (paper §4.2)."""

from collections.abc import Mapping

from orthrus_serving.scheduling.lane import Lane
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.task import Task


class IntraBatchScheduling:
    """Decodes first, then a floor for each task, then shares by credit.

    Credits are in tokens. Taking n tokens adds n * w_t / (w_e + w_g) to each task t and charges
    n to the taker, so they sum to zero and stay within half an opportunity of it for fixed
    weights. The paper charges a constant per selection, which holds the ratio only when all
    selections are of one size.

    The floor is not charged. Without it a one-token prompt behind a large embedding backlog
    waits for most of that backlog, since its weight is tiny. `min_opportunities` = 0 is the
    paper's form.

    Args:
        chunk_tokens: C, the most tokens of one opportunity, of either task.
        min_opportunities: opportunities that make up the floor of each task in a step.
    """

    places_kept = 1

    def __init__(self, chunk_tokens: int, min_opportunities: int) -> None:
        self._chunk_tokens = chunk_tokens
        self._floor_tokens = chunk_tokens * min_opportunities
        self.credit = dict.fromkeys(Task, 0.0)

    def plan(self, step: Step) -> StepPlan:
        budget = step.chunk_budget(step.decodes)
        weights = {task: step.backlog.tokens(task) for task in Task}
        grants = dict[Prefill, int]()
        lanes = {task: step.lane(task, grants) for task in Task}
        floor = min(self._floor_tokens, budget // 2)
        if step.trim is not None:
            floor = min(floor, step.trim.floor)
        given = sum(lane.fill(floor) for lane in lanes.values())
        self._share(lanes, weights, budget - given)
        if any(lanes[task].granted == weights[task] for task in Task):
            # A task without work banks nothing, and owes nothing when it comes back.
            self.credit = dict.fromkeys(Task, 0.0)
        return StepPlan(grants, budget)

    def _share(self, lanes: Mapping[Task, Lane], weights: Mapping[Task, int], left: int) -> None:
        while left > 0 and (contenders := [task for task in Task if lanes[task].open]):
            if len(contenders) == 1:
                lanes[contenders[0]].fill(left)
                return
            left -= self._one_opportunity(lanes, weights, left)

    def _one_opportunity(
        self, lanes: Mapping[Task, Lane], weights: Mapping[Task, int], left: int
    ) -> int:
        total = sum(weights.values())
        share = {task: weight / total for task, weight in weights.items()}
        taker = max(Task, key=lambda task: self.credit[task] + self._chunk_tokens * share[task])
        tokens = lanes[taker].take(min(self._chunk_tokens, left))
        for task in Task:
            self.credit[task] += tokens * share[task]
        self.credit[taker] -= tokens
        return tokens
