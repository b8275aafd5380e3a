"""One replica, step by step: the engine's scheduling code over requests that are only counted.

What `engine/scheduler.py` and vLLM's loop do around the policy is done here in the same order:
the blocks that prefills may have, the plan, victims where decodes lack blocks, and the books.
A request that comes back after a preemption computes everything again: there is no prefix cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor, sqrt

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.inter_token import InterTokenTarget
from orthrus_serving.scheduling.limits import Limits
from orthrus_serving.scheduling.policies import make_policy
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.step import Step, StepPlan
from orthrus_serving.scheduling.step_clock import MeasuredStep
from orthrus_serving.scheduling.step_time import StepTime
from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.decodes import Decodes
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.step_cost import StepCost
from orthrus_serving.sim.step_load import StepLoad

_TURNS = len(Task)


@dataclass(slots=True)
class Outputs:
    """What comes out of one step, or of several steps alike: of those, out of the last.

    `tokens` of each step; requests in the order in which their outputs are sent.
    """

    seconds: float
    tokens: int
    steps: int = 1
    first_step_seconds: float = 0.0
    started: list[SimulatedRequest] = field(default_factory=list)
    """Generations that emit their first token here."""
    generated: list[SimulatedRequest] = field(default_factory=list)
    embedded: list[SimulatedRequest] = field(default_factory=list)


@dataclass(slots=True)
class _State:
    """`total`: tokens to compute before the next output; `left`: outputs to come."""

    request: SimulatedRequest
    total: int
    left: int
    held: int = 0


@dataclass
class Totals:
    """Cumulative over the steps of a replica."""

    steps: int = 0
    busy_seconds: float = 0.0
    chunk_tokens: int = 0
    decode_tokens: int = 0
    preemptions: int = 0


class Replica:
    """Knows no clock: it says how long each step takes.

    Raises ValueError when a request could never run.
    """

    def __init__(self, settings: ReplicaSettings, cost: StepCost) -> None:
        self.settings = settings
        self.totals = Totals()
        self.backlog = Backlog()
        self._cost = cost
        self._policy = make_policy(
            settings.policy, settings.chunk_tokens, settings.min_opportunities
        )
        self._limits = Limits(settings.sequences, places_kept=self._policy.places_kept)
        self._target = _make_target(settings)
        self._decodes = Decodes(settings.kv.block_size)
        self._partial: list[Prefill] = []
        self._states: dict[Prefill, _State] = {}
        self._arrivals = 0
        self._prefill_blocks = 0
        self._quiet_steps = 0
        """Steps of decodes alone since something came or left a place to a request that waits."""

    @property
    def idle(self) -> bool:
        return not self._states

    @property
    def backlog_tokens(self) -> int:
        """The autoscaling signal: prompt tokens not yet scheduled, of both tasks."""
        return sum(self.backlog.tokens(task) for task in Task)

    @property
    def used_blocks(self) -> int:
        return self._decodes.blocks + self._prefill_blocks

    def submit(self, request: SimulatedRequest) -> Prefill:
        """Queue a request; one whose prompt another replica has computed waits for its blocks."""
        longest = request.prompt_tokens + request.output_tokens
        if self.settings.kv.blocks_of(longest) > self.settings.kv.blocks:
            raise ValueError(
                f"a request of {longest} tokens does not fit into the KV space of "
                f"{self.settings.kv.tokens} tokens"
            )
        prefill = Prefill(str(self._arrivals), request.task, self._arrivals)
        self._arrivals += 1
        self._states[prefill] = _State(request, request.prompt_tokens, request.output_tokens)
        self.backlog.enqueue(prefill, request.prompt_tokens - request.computed)
        self._quiet_steps = 0
        return prefill

    def step(self) -> Outputs:
        """One step of the engine; there must be a request."""
        plan = self._plan(len(self._decodes))
        decodes_run = Task.GENERATION in plan.tasks
        grants = plan.grants
        preempted = decodes_run and self._make_room()
        if preempted:  # vLLM admits nobody in such a step
            grants = {prefill: n for prefill, n in grants.items() if not prefill.waiting}
        load = StepLoad()
        outputs = Outputs(0.0, tokens=0)
        if decodes_run and len(self._decodes):
            load.add_decodes(len(self._decodes), self._decodes.context)
            outputs.tokens = load.decode_tokens
            outputs.generated = [self._finish(prefill) for prefill in self._decodes.advance()]
        self._carry_out(grants, load, outputs)
        outputs.seconds = outputs.first_step_seconds = self._cost.seconds(load)
        self._learn(load, outputs.seconds)
        self._count(1, outputs.seconds, load.chunk_tokens, load.decode_tokens)
        self._note_quiet(outputs, is_quiet=not load.chunk_tokens and not preempted)
        return outputs

    def steps_alike(self) -> int:
        """Steps of the same decodes from here on that need no plan.

        A policy that gave prefills nothing twice, at the turn of either task, gives them nothing
        until something changes.
        """
        if self._quiet_steps < _TURNS or not len(self._decodes) or self._target is not None:
            return 0
        return self._decodes.steps_alike(self.settings.kv.blocks - self.used_blocks)

    def seconds_of(self, steps: int) -> float:
        """Time of that many of them."""
        rows, context = len(self._decodes), self._decodes.context
        first, second = StepLoad(), StepLoad()
        first.add_decodes(rows, context)
        second.add_decodes(rows, context + rows)
        start = self._cost.seconds(first)
        growth = self._cost.seconds(second) - start
        return steps * start + growth * (steps * (steps - 1) / 2)

    def steps_begun(self, elapsed: float) -> int:
        """How many of them have begun after that time; at least one."""
        first = self.seconds_of(1)
        growth = self.seconds_of(2) - 2 * first
        # n * first + growth * n * (n - 1) / 2 = elapsed, in a form that needs no division by growth
        linear = first - growth / 2
        root = 2 * elapsed / (linear + sqrt(linear * linear + 2 * growth * elapsed))
        steps = max(1, floor(root))
        while self.seconds_of(steps) < elapsed:
            steps += 1
        return steps

    def advance(self, steps: int) -> Outputs:
        """Take that many of them at once."""
        rows = len(self._decodes)
        seconds, first = self.seconds_of(steps), self.seconds_of(1)
        outputs = Outputs(seconds, rows, steps, first)
        outputs.generated = [self._finish(p) for p in self._decodes.advance(steps)]
        self._count(steps, seconds, 0, steps * rows)
        if self._quiet_steps:  # else something arrived meanwhile
            self._note_quiet(outputs, is_quiet=True)
        return outputs

    def _note_quiet(self, outputs: Outputs, is_quiet: bool) -> None:
        freed = bool(outputs.generated) and self.backlog_tokens > 0
        self._quiet_steps = self._quiet_steps + 1 if is_quiet and not freed else 0

    def _plan(self, decodes: int) -> StepPlan:
        target = self._target
        step = Step.begin(
            self.settings.token_budget,
            decodes,
            self._partial,
            self.backlog,
            self._admission(decodes),
            trim=target.trim(decodes) if target is not None else None,
        )
        return self._policy.plan(step)

    def _admission(self, decodes: int) -> Admission:
        partial = [prefill.task for prefill in self._partial]
        embeddings = partial.count(Task.EMBEDDING)
        running = {
            (Task.EMBEDDING, 0): embeddings,
            (Task.GENERATION, 0): decodes + len(partial) - embeddings,
        }
        free = self.settings.kv.blocks - self.used_blocks - self._decodes.growth()
        blocks = FreeBlocks(free, self._blocks_needed, headroom=decodes, decodes=bool(decodes))
        return Admission(self._limits, running, blocks)

    def _blocks_needed(self, prefill: Prefill, _available: int) -> int:
        state = self._states[prefill]
        return self.settings.kv.blocks_of(state.total) - state.held

    def _make_room(self) -> bool:
        """Preempt until every decode has a block for its next token; whether anybody had to go."""
        before = self.totals.preemptions
        while self.used_blocks + self._decodes.growth() > self.settings.kv.blocks:
            self._preempt(self._victim())
        return self.totals.preemptions > before

    def _victim(self) -> Prefill:
        """The request with the least work to lose; an embedding only when nothing else runs."""
        computed = dict(self._decodes)
        computed.update((p, self._states[p].total - p.remaining) for p in self._partial)
        return min(computed, key=lambda p: (p.task is Task.EMBEDDING, computed[p], -p.arrival))

    def _preempt(self, prefill: Prefill) -> None:
        state = self._states[prefill]
        if prefill in self._partial:
            self._partial.remove(prefill)
            self._prefill_blocks -= state.held
        else:
            context, state.left = self._decodes.remove(prefill)
            state.total = context + 1
        state.held = 0
        self.backlog.enqueue(prefill, state.total)
        self.totals.preemptions += 1

    def _carry_out(self, grants: Mapping[Prefill, int], load: StepLoad, outputs: Outputs) -> None:
        for prefill, tokens in grants.items():
            state = self._states[prefill]
            if prefill.waiting:
                self.backlog.admit(prefill)
                self._partial.append(prefill)
            load.add_chunk(state.total - prefill.remaining, tokens)
            self.backlog.set_remaining(prefill, prefill.remaining - tokens)
            held = self.settings.kv.blocks_of(state.total - prefill.remaining)
            self._prefill_blocks += held - state.held
            state.held = held
            if not prefill.remaining:
                self._end_prefill(prefill, state, outputs)

    def _end_prefill(self, prefill: Prefill, state: _State, outputs: Outputs) -> None:
        self._partial.remove(prefill)
        self._prefill_blocks -= state.held
        if prefill.task is Task.EMBEDDING:
            outputs.embedded.append(self._finish(prefill))
            return
        outputs.tokens += 1
        outputs.started.append(state.request)
        if state.left == 1:
            outputs.generated.append(self._finish(prefill))
        else:
            self._decodes.add(prefill, state.total, state.left - 1)

    def _finish(self, prefill: Prefill) -> SimulatedRequest:
        return self._states.pop(prefill).request

    def _learn(self, load: StepLoad, seconds: float) -> None:
        if self._target is not None:
            self._target.learn(MeasuredStep(load.chunk_tokens, load.decode_tokens, seconds))

    def _count(self, steps: int, seconds: float, chunk_tokens: int, decode_tokens: int) -> None:
        totals = self.totals
        totals.steps += steps
        totals.busy_seconds += seconds
        totals.chunk_tokens += chunk_tokens
        totals.decode_tokens += decode_tokens


def _make_target(settings: ReplicaSettings) -> InterTokenTarget | None:
    if settings.max_inter_token_seconds is None:
        return None
    floor = min(settings.kv.block_size, settings.chunk_tokens)
    step_time = StepTime(settings.token_budget, settings.sequences)
    return InterTokenTarget(settings.max_inter_token_seconds, floor, step_time)
