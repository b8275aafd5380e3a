"""What a policy is given for one engine step, and the plan that it returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Self

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.lane import Lane
from orthrus_serving.scheduling.limits import OVERTAKING_LIMIT
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task
from orthrus_serving.scheduling.trim import Trim

_arrival = attrgetter("arrival")


@dataclass(frozen=True)
class StepPlan:
    """Tokens for each prefill, in order of service; every decode has its token besides.

    `chunk_budget` is what the prefills share: grants never exceed it. `tasks` are those that
    may run in this step; without generation, decodes pause too.
    """

    grants: Mapping[Prefill, int]
    chunk_budget: int
    tasks: frozenset[Task] = frozenset(Task)

    @property
    def unplanned(self) -> int:
        """Tokens of the chunk budget that no prefill can take."""
        return self.chunk_budget - sum(self.grants.values())


@dataclass(frozen=True)
class Step:
    """State before a step. `partial`: running prefills that may go on, in order of arrival."""

    token_budget: int
    decodes: int
    partial: Mapping[Task, Sequence[Prefill]]
    backlog: Backlog
    admission: Admission
    trim: Trim | None = None

    @classmethod
    def begin(
        cls,
        token_budget: int,
        decodes: int,
        running: Iterable[Prefill],
        backlog: Backlog,
        admission: Admission,
        *,
        trim: Trim | None = None,
    ) -> Self:
        """Set blocks aside for `running` prefills, then for requests overtaken often enough."""
        partial: dict[Task, list[Prefill]] = {task: [] for task in Task}
        for prefill in sorted(running, key=_arrival):
            if admission.resume(prefill):
                partial[prefill.task].append(prefill)
        first = (p for task in Task for p in islice(backlog.waiting(task), OVERTAKING_LIMIT))
        for prefill in sorted(first, key=_arrival):
            if prefill.overtaken >= OVERTAKING_LIMIT:
                admission.reserve(prefill)
        return cls(token_budget, decodes, partial, backlog, admission, trim)

    def chunk_budget(self, decodes: int) -> int:
        """What prefills may share beside `decodes`."""
        left = self.token_budget - decodes
        if self.trim is None:
            return left
        floors = sum(self.backlog.tokens(task) > 0 for task in Task) * self.trim.floor
        return min(left, max(self.trim.tokens, floors))

    def lane(self, task: Task, grants: dict[Prefill, int]) -> Lane:
        """The requests of one task."""
        waiting = self.backlog.waiting(task)
        return Lane(self.partial[task], waiting, self.admission, grants)

    def merged_lane(self, grants: dict[Prefill, int]) -> Lane:
        """The requests of both tasks in one order of arrival."""
        partial = merge(*self.partial.values(), key=_arrival)
        return Lane(partial, self._waiting(Task), self.admission, grants)

    def pass_on(self, plan: StepPlan, tokens: int) -> StepPlan:
        """`plan` with `tokens`, which planned requests left unused, granted to further ones.

        They go to waiting requests in order of arrival, and are not charged to anybody.
        """
        further = (p for p in self._waiting(plan.tasks) if p not in plan.grants)
        grants = dict[Prefill, int]()
        Lane((), further, self.admission, grants).fill(tokens)
        return replace(plan, grants={**plan.grants, **grants})

    def _waiting(self, tasks: Iterable[Task]) -> Iterable[Prefill]:
        return merge(*(self.backlog.waiting(task) for task in tasks), key=_arrival)
