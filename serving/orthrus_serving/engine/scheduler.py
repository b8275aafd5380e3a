"""The planner bound to vLLM's scheduler, without a copy of `schedule()`.

Before vLLM's own loop runs, a plan decides who gets how many tokens; the loop then meets decodes
first, planned prefills next, and of the waiting requests only those that the plan admits, and
`_reserve_prefill_lookahead`, which it asks about every request, caps each at its grant.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from vllm.config import VllmConfig
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.request_queue import SchedulingPolicy
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutputs
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request

from orthrus_serving.engine.allotment import Allotment
from orthrus_serving.engine.block_demand import BlockDemand
from orthrus_serving.engine.embedding_cache import (
    keep_embeddings_out_of_prefix_cache,
    needs_every_token,
)
from orthrus_serving.engine.request_kind import WorkToLose, adapter_of, is_decode, task_of
from orthrus_serving.engine.scheduler_snapshot import attach_snapshot_call
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.engine.unanswered import fail_unanswered_embeddings
from orthrus_serving.engine.waiting_queue import WaitingQueue
from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.backlog import Backlog
from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.inter_token import InterTokenTarget
from orthrus_serving.scheduling.limits import Limits
from orthrus_serving.scheduling.policies import make_policy
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.snapshot import Snapshot, UnitTokens
from orthrus_serving.scheduling.step import Step
from orthrus_serving.scheduling.step_clock import StepClock
from orthrus_serving.scheduling.step_counters import StepCounters
from orthrus_serving.scheduling.step_time import StepTime
from orthrus_serving.scheduling.task import Task


class OrthrusScheduler(Scheduler):
    """vLLM's scheduler with embeddings and generations in one batch, by a batch policy.

    Raises:
        ValueError: the configuration leaves no room for one of the tasks.
    """

    _allotment: Allotment

    def __init__(self, vllm_config: VllmConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(vllm_config, *args, **kwargs)
        config = cast("dict[str, Any]", vllm_config.additional_config)
        settings = EngineSettings.from_additional_config(config)
        self._batch_policy = make_policy(
            settings.batch_policy, settings.embedding_chunk_tokens, settings.min_opportunities
        )
        self._limits = Limits(
            sequences=self.max_num_active_reqs,
            adapter_slots=self.lora_config.max_loras if self.lora_config else None,
            places_kept=self._batch_policy.places_kept,
        )
        if self.max_num_active_reqs >= self.max_num_scheduled_tokens:
            raise ValueError(
                f"max_num_seqs is {self.max_num_active_reqs}, but must be below "
                f"max_num_batched_tokens ({self.max_num_scheduled_tokens}), or decodes could "
                "fill every step"
            )
        self._backlog = Backlog()
        self._prefills: dict[str, Prefill] = {}
        self._arrivals = 0
        self._counters = StepCounters()
        self._clock = StepClock()
        self._inter_token = self._make_target(settings)
        self._waiting_queue = WaitingQueue(self._backlog, self._prefills)
        self.waiting = self._waiting_queue
        # Under this policy `request.priority` names the victim of a preemption.
        self.policy = SchedulingPolicy.PRIORITY
        self._block_demand = BlockDemand(
            self.kv_cache_manager, self.requests, self._request_remaining_blocks
        )
        keep_embeddings_out_of_prefix_cache(self.kv_cache_manager)

    def _make_target(self, settings: EngineSettings) -> InterTokenTarget | None:
        millis = settings.max_inter_token_millis
        if millis is None:
            return None
        floor = min(self.block_size, settings.embedding_chunk_tokens)
        step_time = StepTime(self.max_num_scheduled_tokens, self.max_num_active_reqs)
        return InterTokenTarget(millis / 1000, floor, step_time)

    def snapshot(self) -> Snapshot:
        """Counters and gauges as of now."""
        usage = self.kv_cache_manager.usage
        return self._counters.snapshot(self._backlog, self._clock, usage, time.monotonic())

    def add_request(self, request: Request) -> None:
        if needs_every_token(request):
            request.skip_reading_prefix_cache = True
        self._prefills[request.request_id] = Prefill(
            request.request_id,
            task_of(request),
            self._arrivals,
            adapter_of(request),
            arrived_at=time.monotonic(),
        )
        self._arrivals += 1
        request.priority = WorkToLose(request)  # type: ignore[assignment]
        super().add_request(request)

    def schedule(self, throttle_prefills: bool = False) -> SchedulerOutput:
        began = time.monotonic()
        self._waiting_queue.release_held(self._is_ready, self.max_num_active_reqs)
        self._begin_step()
        output = super().schedule(throttle_prefills)
        self._waiting_queue.withdraw_offer()
        tokens = self._account(output)
        prefill_tokens = tokens.embedding_chunk + tokens.generation_prefill
        self._clock.launch(prefill_tokens, tokens.decode, began, launched=time.monotonic())
        return output

    def update_from_output(
        self, scheduler_output: SchedulerOutput, model_runner_output: ModelRunnerOutput
    ) -> dict[int, EngineCoreOutputs]:
        arrived = time.monotonic()
        outputs = super().update_from_output(scheduler_output, model_runner_output)
        fail_unanswered_embeddings(self, scheduler_output, outputs)
        step = self._clock.complete(arrived, done=time.monotonic())
        if self._inter_token is not None and step is not None:
            self._inter_token.learn(step)
        return outputs

    def _begin_step(self) -> None:
        """Plan the step, and put the running requests in the plan's order."""
        decodes: list[Request] = []
        others: dict[str, Request] = {}
        for request in self.running:
            if is_decode(request):
                decodes.append(request)
            else:
                others[request.request_id] = request
        partial = [p for id_ in others if (p := self._prefills[id_]).remaining]
        running = self._count_running(len(decodes), others.values())
        admission = Admission(self._limits, running, self._blocks_for_prefills(decodes))
        target = self._inter_token
        step = Step.begin(
            self.max_num_scheduled_tokens,
            len(decodes),
            partial,
            self._backlog,
            admission,
            trim=target.trim(len(decodes)) if target is not None else None,
        )
        plan = self._batch_policy.plan(step)
        planned = [others.pop(p.request_id) for p in plan.grants if not p.waiting]
        self.running = [*decodes, *planned, *others.values()]
        self._allotment = Allotment(step, plan, self._waiting_queue, self.max_model_len)

    def _count_running(self, decodes: int, others: Iterable[Request]) -> Counter[tuple[Task, int]]:
        """Running requests by task and adapter; decodes are looked at only for an adapter."""
        if self.lora_config is not None:
            return Counter((task_of(r), adapter_of(r)) for r in self.running)
        counts = Counter((task_of(request), 0) for request in others)
        counts[Task.GENERATION, 0] += decodes
        return counts

    def _blocks_for_prefills(self, decodes: list[Request]) -> FreeBlocks:
        """Blocks for prefills; admissions leave one free for each decode.

        So prefills that are admitted now are done before decodes need the blocks they hold.
        """
        manager = self.kv_cache_manager
        groups = manager.num_kv_cache_groups
        full = sum(request.num_computed_tokens % self.block_size == 0 for request in decodes)
        watermark = manager.watermark_blocks if self.running else 0
        return FreeBlocks(
            count=manager.block_pool.get_num_free_blocks() - full * groups,
            needed=self._block_demand,
            headroom=max(len(decodes) * groups, watermark),
            decodes=bool(decodes),
        )

    def _reserve_prefill_lookahead(
        self, request: Request, num_computed_tokens: int, num_new_tokens: int
    ) -> int:
        # vLLM's own answer differs only with a draft model, which is refused.
        return self._allotment.spend(request, num_computed_tokens, max(num_new_tokens, 0))

    def _account(self, output: SchedulerOutput) -> UnitTokens:
        """Bring the backlog up to date with what vLLM scheduled, and count it."""
        chunk = prompt = decode = 0
        for request_id, tokens in output.num_scheduled_tokens.items():
            prefill = self._prefills[request_id]
            if not prefill.remaining:
                decode += tokens
                continue
            if prefill.task is Task.EMBEDDING:
                chunk += tokens
            else:
                prompt += tokens
            request = self.requests[request_id]
            remaining = request.num_tokens - request.num_computed_tokens
            self._backlog.set_remaining(prefill, max(remaining, 0))
        scheduled = UnitTokens(chunk, prompt, decode)
        self._counters.record(scheduled, self.max_num_scheduled_tokens)
        return scheduled

    def _is_ready(self, request: Request) -> bool:
        """Whether a held request can be scheduled now."""
        if request.num_stale_output_tokens and not request.drop_stale_output:
            return False
        return self._handle_blocked_waiting_request(request)

    def _free_request(
        self, request: Request, delay_free_blocks: bool = False
    ) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        self._backlog.drop(self._prefills.pop(request.request_id))
        # Its work to lose names the request: a cycle would keep it, with all its tokens, until
        # Python's collector runs, in the middle of a step.
        request.priority = 0
        return super()._free_request(request, delay_free_blocks)


class OrthrusAsyncScheduler(OrthrusScheduler, AsyncScheduler):
    """The same over vLLM's asynchronous scheduler, its default on GPUs."""


def make_scheduler(vllm_config: VllmConfig, **kwargs: Any) -> OrthrusScheduler:
    """The scheduler of an engine; vLLM calls this in place of a scheduler class.

    vLLM does not match a custom class to `async_scheduling`, so the choice is made here.
    """
    attach_snapshot_call()
    if vllm_config.scheduler_config.async_scheduling:
        return OrthrusAsyncScheduler(vllm_config, **kwargs)
    return OrthrusScheduler(vllm_config, **kwargs)
