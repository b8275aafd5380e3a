"""A real scheduler in a real engine loop over a worker that only counts tokens."""

import functools
import random
import tempfile
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from transformers import LlamaConfig
from vllm.config import CacheConfig, LoRAConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.lora.request import LoRARequest
from vllm.pooling_params import PoolingParams
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.interface import SchedulerInterface
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

from orthrus_serving.engine.scheduler import OrthrusScheduler
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.scheduling.snapshot import ByTask, Snapshot

BLOCK_SIZE = 8


@functools.cache
def _model_folder() -> "tempfile.TemporaryDirectory[str]":
    """A model folder without weights: the scheduler needs only the configuration."""
    folder = tempfile.TemporaryDirectory()
    LlamaConfig(
        architectures=["LlamaForCausalLM"],
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=1024,
        max_position_embeddings=4096,
    ).save_pretrained(folder.name)
    return folder


@dataclass(frozen=True)
class LoopConfig:
    policy: str = "ibs"
    min_opportunities: int = 1
    chunk_tokens: int = 16
    token_budget: int = 64
    sequences: int = 8
    max_model_len: int = 128
    blocks: int = 400
    adapter_slots: int = 0
    asynchronous: bool = False
    max_inter_token_millis: float | None = None


@functools.cache
def make_vllm_config(config: LoopConfig) -> VllmConfig:
    scheduler = SchedulerConfig(
        max_num_seqs=config.sequences,
        max_num_batched_tokens=config.token_budget,
        max_model_len=config.max_model_len,
        is_encoder_decoder=False,
        enable_chunked_prefill=True,
        async_scheduling=config.asynchronous,
        scheduler_cls="orthrus_serving.engine.scheduler.make_scheduler",
    )
    settings = EngineSettings(
        embedding_chunk_tokens=config.chunk_tokens,
        batch_policy=config.policy,
        min_opportunities=config.min_opportunities,
        max_inter_token_millis=config.max_inter_token_millis,
    )
    vllm_config = VllmConfig(
        model_config=ModelConfig(
            model=_model_folder().name,
            skip_tokenizer_init=True,
            dtype="float32",
            max_model_len=config.max_model_len,
        ),
        scheduler_config=scheduler,
        cache_config=CacheConfig(block_size=BLOCK_SIZE, enable_prefix_caching=True),
        lora_config=LoRAConfig(max_loras=config.adapter_slots) if config.adapter_slots else None,
        additional_config=settings.to_additional_config(),
    )
    # The CPU platform switches asynchronous scheduling off; there is no CPU in this loop.
    vllm_config.scheduler_config.async_scheduling = config.asynchronous
    vllm_config.cache_config.num_gpu_blocks = config.blocks
    return vllm_config


def make_scheduler(config: LoopConfig) -> OrthrusScheduler:
    """As `EngineCore` makes it, from the name in the configuration."""
    scheduler_config = make_vllm_config(config).scheduler_config
    scheduler = _make(config, scheduler_config.get_scheduler_cls())
    assert isinstance(scheduler, OrthrusScheduler)
    return scheduler


def make_stock_scheduler(config: LoopConfig) -> Scheduler:
    """vLLM's own, with the same limits."""
    scheduler = _make(config, Scheduler)
    assert isinstance(scheduler, Scheduler)
    return scheduler


def _make(config: LoopConfig, factory: Callable[..., SchedulerInterface]) -> SchedulerInterface:
    vllm_config = make_vllm_config(config)
    spec = FullAttentionSpec(
        block_size=BLOCK_SIZE, num_kv_heads=1, head_size=1, dtype=torch.float32
    )
    return factory(
        vllm_config=vllm_config,
        kv_cache_config=KVCacheConfig(
            num_blocks=config.blocks,
            kv_cache_tensors=[],
            kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)],
        ),
        structured_output_manager=StructuredOutputManager(vllm_config),
        block_size=BLOCK_SIZE,
        hash_block_size=BLOCK_SIZE,
        include_finished_set=False,
        log_stats=True,
    )


class CountingWorker:
    """Keeps the requests of a real worker, but computes nothing.

    It fails when the scheduler leaves out, or repeats, a token of a request.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._computed: dict[str, int] = {}
        self._embeddings: set[str] = set()
        self.cached_tokens: dict[str, int] = {}

    def execute(self, step: SchedulerOutput) -> ModelRunnerOutput:
        for request_id in step.finished_req_ids:
            self._known.pop(request_id, None)
            self._computed.pop(request_id, None)
        for new in step.scheduled_new_reqs:
            assert new.prompt_token_ids is not None
            self._known[new.req_id] = len(new.prompt_token_ids)
            self._computed[new.req_id] = new.num_computed_tokens
            self.cached_tokens[new.req_id] = new.num_computed_tokens
            if new.pooling_params is not None:
                self._embeddings.add(new.req_id)
                assert new.pooling_params.extra_kwargs is not None
                if new.pooling_params.extra_kwargs["pooling"] != "last":
                    assert new.num_computed_tokens == 0, "hidden states would be missing"
        cached = step.scheduled_cached_reqs
        for request_id, computed in zip(cached.req_ids, cached.num_computed_tokens, strict=True):
            if request_id in cached.resumed_req_ids:
                self._known[request_id] = len(cached.all_token_ids[request_id])
                self._computed[request_id] = computed
                self.cached_tokens[request_id] = computed
            assert self._computed[request_id] == computed, "a token was skipped or repeated"
        return self._outputs(step)

    def _outputs(self, step: SchedulerOutput) -> ModelRunnerOutput:
        request_ids = list(step.num_scheduled_tokens)
        sampled: list[list[int]] = []
        pooled: list[torch.Tensor | None] = []
        for request_id, tokens in step.num_scheduled_tokens.items():
            self._computed[request_id] += tokens
            complete = self._computed[request_id] == self._known[request_id]
            is_embedding = request_id in self._embeddings
            assert self._computed[request_id] <= self._known[request_id]
            pooled.append(torch.ones(1) if complete and is_embedding else None)
            sampled.append([7] if complete and not is_embedding else [])
            self._known[request_id] += len(sampled[-1])
        return ModelRunnerOutput(
            req_ids=request_ids,
            req_id_to_index={request_id: index for index, request_id in enumerate(request_ids)},
            sampled_token_ids=sampled,
            pooler_output=pooled,
        )


@dataclass(frozen=True)
class StepRecord:
    """What one step scheduled, and which requests had to decode in it."""

    tokens: dict[str, int]
    decodes: set[str]
    preempted: set[str]
    backlog: ByTask
    """Prefill tokens left, summed over all requests right after the step was planned."""
    snapshot: Snapshot

    @property
    def total(self) -> int:
        return sum(self.tokens.values())

    def total_of(self, kind: str) -> int:
        return sum(n for request_id, n in self.tokens.items() if request_id.startswith(kind))


@dataclass
class EngineLoop:
    """`EngineCore.step`, or its two-deep asynchronous form, without the processes."""

    config: LoopConfig = LoopConfig()
    worker: CountingWorker = field(default_factory=CountingWorker)
    finished: dict[str, str] = field(default_factory=dict)
    generated: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, torch.Tensor] = field(default_factory=dict)
    history: list[StepRecord] = field(default_factory=list)
    _in_flight: deque[tuple[SchedulerOutput, ModelRunnerOutput]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.scheduler = make_scheduler(self.config)

    def add(self, *requests: Request) -> None:
        for request in requests:
            self.scheduler.add_request(request)

    def step(self) -> StepRecord:
        decodes = {r.request_id for r in self.scheduler.running if _must_decode(r)}
        output = self.scheduler.schedule()
        tokens = dict(output.num_scheduled_tokens)
        requests = self.scheduler.requests.values()
        record = StepRecord(
            tokens,
            decodes,
            set(output.preempted_req_ids or ()),
            ByTask(*(sum(_left(r) for r in requests if r.request_id[0] == k) for k in "eg")),
            self.scheduler.snapshot(),
        )
        self.history.append(record)
        self._in_flight.append((output, self.worker.execute(output)))
        depth = 2 if self.config.asynchronous else 1
        if len(self._in_flight) >= depth or not tokens:
            self._deliver()
        return record

    def run(self, max_steps: int) -> None:
        """Step until every request has finished."""
        for _ in range(max_steps):
            if not self.scheduler.has_unfinished_requests():
                return
            self.step()
        unfinished = list(self.scheduler.requests)
        assert not unfinished, f"{unfinished} still unfinished after {max_steps} steps"

    def _deliver(self) -> None:
        step, result = self._in_flight.popleft()
        for client in self.scheduler.update_from_output(step, result).values():
            for output in client.outputs:
                tokens = self.generated.get(output.request_id, 0) + len(output.new_token_ids)
                self.generated[output.request_id] = tokens
                if output.pooling_output is not None:
                    self.vectors[output.request_id] = output.pooling_output
                if output.finish_reason is not None:
                    self.finished[output.request_id] = str(output.finish_reason)


def _must_decode(request: Request) -> bool:
    """A generation past its prompt, unless its last token is on its way already."""
    promised = request.num_output_tokens + request.num_output_placeholders
    return (
        request.pooling_params is None
        and not request.is_prefill_chunk
        and promised < request.max_tokens
    )


def _left(request: Request) -> int:
    """Prefill tokens to schedule; none while output from before a preemption is on its way."""
    draining = request.num_stale_output_tokens and not request.drop_stale_output
    waits = request.status in (RequestStatus.WAITING, RequestStatus.PREEMPTED)
    runs = request.status == RequestStatus.RUNNING and request.is_prefill_chunk
    if runs or (waits and not draining):
        return request.num_tokens - request.num_computed_tokens
    return 0


class RequestMaker:
    """Requests with block hashes, as `EngineCore` makes them."""

    def __init__(self, seed: int = 0) -> None:
        init_none_hash(_hash)
        self._hasher = get_request_block_hasher(BLOCK_SIZE, _hash)
        self._random = random.Random(seed)  # noqa: S311
        self._made = 0

    def embedding(
        self, tokens: int | Iterable[int], pooling: str = "mean", adapter: int = 0
    ) -> Request:
        params = PoolingParams(task="embed", extra_kwargs={"pooling": pooling})
        return self._request(tokens, "e", adapter, pooling_params=params)

    def generation(
        self,
        tokens: int | Iterable[int],
        max_tokens: int = 4,
        adapter: int = 0,
        structured_outputs: StructuredOutputsParams | None = None,
    ) -> Request:
        params = SamplingParams(
            max_tokens=max_tokens, ignore_eos=True, structured_outputs=structured_outputs
        )
        return self._request(tokens, "g", adapter, sampling_params=params)

    def prompt(self, length: int) -> list[int]:
        return [self._random.randrange(1000) for _ in range(length)]

    def _request(
        self,
        tokens: int | Iterable[int],
        kind: str,
        adapter: int,
        pooling_params: PoolingParams | None = None,
        sampling_params: SamplingParams | None = None,
    ) -> Request:
        prompt = self.prompt(tokens) if isinstance(tokens, int) else list(tokens)
        self._made += 1
        return Request(
            request_id=f"{kind}{self._made}",
            prompt_token_ids=prompt,
            sampling_params=sampling_params,
            pooling_params=pooling_params,
            arrival_time=float(self._made),
            lora_request=LoRARequest(f"a{adapter}", adapter, f"/a{adapter}") if adapter else None,
            block_hasher=self._hasher,
        )


def _hash(value: object) -> bytes:
    return hash(repr(value)).to_bytes(8, "big", signed=True)
