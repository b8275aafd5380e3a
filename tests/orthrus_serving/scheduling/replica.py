"""A replica reduced to what the planner sees: it carries plans out and keeps the books."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.inter_token import InterTokenTarget
from orthrus_serving.scheduling.limits import Limits
from orthrus_serving.scheduling.policy import BatchPolicy
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.step_clock import MeasuredStep
from orthrus_serving.scheduling.task import Task

E, G = Task.EMBEDDING, Task.GENERATION


@dataclass
class Taken:
    """One carried out step."""

    plan: StepPlan
    decodes: int

    def tokens(self, task: Task) -> int:
        return sum(n for prefill, n in self.plan.grants.items() if prefill.task is task)

    @property
    def total(self) -> int:
        decodes = self.decodes if G in self.plan.tasks else 0
        return decodes + sum(self.plan.grants.values())


@dataclass
class Replica:
    """One block holds one token here; a request frees its blocks when it finishes.

    As in an engine, decodes that lack a block preempt the youngest request, and chunks must not.
    """

    policy: BatchPolicy
    token_budget: int = 64
    sequences: int = 8
    adapter_slots: int | None = None
    blocks: int = 10**9
    target: InterTokenTarget | None = None
    duration: Callable[[int, int], float] = lambda chunk_tokens, decodes: 0.0
    """Seconds that a step takes."""
    backlog: Backlog = field(default_factory=Backlog)
    partial: list[Prefill] = field(default_factory=list)
    decoding: dict[Prefill, int] = field(default_factory=dict)
    """Tokens still to generate."""
    lengths: dict[Prefill, tuple[int, int]] = field(default_factory=dict)
    """Prompt tokens and output tokens."""
    finished: list[Prefill] = field(default_factory=list)
    _arrivals: int = 0

    def submit(self, task: Task, tokens: int, output: int = 1, adapter: int = 0) -> Prefill:
        prefill = Prefill(f"{task.value}-{self._arrivals}", task, self._arrivals, adapter)
        self._arrivals += 1
        self.lengths[prefill] = (tokens, output)
        self.backlog.enqueue(prefill, tokens)
        return prefill

    @property
    def running(self) -> list[Prefill]:
        return [*self.partial, *self.decoding]

    @property
    def used_blocks(self) -> int:
        held = {p: self.lengths[p][0] - p.remaining for p in self.partial}
        grown = {p: sum(self.lengths[p]) - left for p, left in self.decoding.items()}
        return sum(held.values()) + sum(grown.values())

    def step(self) -> Taken:
        while self.used_blocks + len(self.decoding) > self.blocks:
            self.preempt(max(self.running, key=lambda prefill: prefill.arrival))
        taken = Taken(self.policy.plan(self._describe()), len(self.decoding))
        self._carry_out(taken.plan.grants)
        assert self.used_blocks + taken.decodes <= self.blocks, "a chunk took a decode's block"
        decodes = taken.decodes if G in taken.plan.tasks else 0
        self._decode(decodes)
        if self.target and taken.total:
            chunks = sum(taken.plan.grants.values())
            self.target.learn(MeasuredStep(chunks, decodes, self.duration(chunks, decodes)))
        return taken

    def abort(self, prefill: Prefill) -> None:
        self.backlog.drop(prefill)
        self.partial = [p for p in self.partial if p is not prefill]
        self.decoding.pop(prefill, None)
        self.finished.append(prefill)

    def preempt(self, prefill: Prefill) -> None:
        """A running request loses its blocks, and computes all it had again."""
        prompt, output = self.lengths[prefill]
        left = self.decoding.pop(prefill, output)
        self.partial = [p for p in self.partial if p is not prefill]
        self.lengths[prefill] = (prompt + output - left, left)
        self.backlog.enqueue(prefill, prompt + output - left)

    def _describe(self) -> Step:
        limits = Limits(self.sequences, self.adapter_slots, self.policy.places_kept)
        decodes = len(self.decoding)
        blocks = FreeBlocks(
            count=self.blocks - self.used_blocks - decodes,
            needed=lambda prefill, _: prefill.remaining,
            headroom=decodes,
            decodes=bool(decodes),
        )
        running = Counter((p.task, p.adapter) for p in self.running)
        admission = Admission(limits, running, blocks)
        trim = self.target.trim(decodes) if self.target else None
        return Step.begin(
            self.token_budget, decodes, self.partial, self.backlog, admission, trim=trim
        )

    def _decode(self, decodes: int) -> None:
        for prefill in list(self.decoding)[:decodes]:
            self.decoding[prefill] -= 1
            if self.decoding[prefill] == 0:
                del self.decoding[prefill]
                self.finished.append(prefill)

    def _carry_out(self, grants: Mapping[Prefill, int]) -> None:
        for prefill, tokens in grants.items():
            if prefill.waiting:
                self.backlog.admit(prefill)
                self.partial.append(prefill)
            self.backlog.set_remaining(prefill, prefill.remaining - tokens)
            if prefill.remaining == 0:
                self.partial.remove(prefill)
                self._end_prefill(prefill)

    def _end_prefill(self, prefill: Prefill) -> None:
        if prefill.task is G and self.lengths[prefill][1] > 0:
            self.decoding[prefill] = self.lengths[prefill][1]
        else:
            self.finished.append(prefill)
