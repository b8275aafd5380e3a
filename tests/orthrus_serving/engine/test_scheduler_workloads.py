"""Random workloads on the bound scheduler: what holds in every step, and that all of them end."""

import random
from dataclasses import dataclass, field

import pytest
from vllm.v1.request import Request, RequestStatus

from orthrus_serving.scheduling.snapshot import UnitTokens
from tests.orthrus_serving.engine.scheduler_loop import (
    EngineLoop,
    LoopConfig,
    RequestMaker,
    StepRecord,
)

ROOMY, TIGHT = 400, 18
"""KV blocks: enough for everything, and barely enough for one request of the model length."""


@dataclass
class Workload:
    """Arrivals and aborts at random times, and the counts that the scheduler should arrive at."""

    seed: int
    config: LoopConfig
    requests: dict[str, Request] = field(default_factory=dict)
    aborted: set[str] = field(default_factory=set)
    scheduled: dict[str, int] = field(
        default_factory=lambda: {"embedding_chunk": 0, "generation_prefill": 0, "decode": 0}
    )
    steps: dict[str, int] = field(
        default_factory=lambda: {"mixed": 0, "embedding": 0, "generation": 0}
    )

    def __post_init__(self) -> None:
        self.loop = EngineLoop(self.config)
        self._random = random.Random(self.seed)  # noqa: S311
        self._maker = RequestMaker(self.seed)
        self._prefixes = [self._maker.prompt(length) for length in (20, 64)]

    def play(self) -> None:
        for _ in range(40):
            for _ in range(self._random.randrange(4)):
                self._arrive()
            if self._random.random() < 0.15:
                self._abort()
            self._step()
        for _ in range(3_000):
            if self.loop.scheduler.has_unfinished_requests():
                self._step()

    def _arrive(self) -> None:
        draw = self._random
        adapter = draw.randrange(4) if self.config.adapter_slots else 0
        longest = self.config.max_model_len
        if draw.random() < 0.5:
            length = draw.choice([1, 15, 16, 17, longest, draw.randint(1, longest)])
            pooling = draw.choice(["mean", "last", "cls", "weighted-mean"])
            request = self._maker.embedding(self._prompt(length), pooling, adapter)
        else:
            output = draw.randint(1, 24)
            length = draw.choice([1, 16, 17, draw.randint(1, longest - output)])
            request = self._maker.generation(self._prompt(length), output, adapter)
        self.requests[request.request_id] = request
        self.loop.add(request)

    def _prompt(self, length: int) -> list[int]:
        """Often with a prefix that others have too."""
        prefix = self._random.choice([[], *self._prefixes])
        return (prefix + self._maker.prompt(length))[:length]

    def _abort(self) -> None:
        live = list(self.loop.scheduler.requests)
        if live:
            victim = self._random.choice(live)
            self.loop.scheduler.finish_requests(victim, RequestStatus.FINISHED_ABORTED)
            self.aborted.add(victim)

    def _step(self) -> None:
        record = self.loop.step()
        self._check(record)
        self._count(record)

    def _check(self, record: StepRecord) -> None:
        running = self.loop.scheduler.running
        assert record.total <= self.config.token_budget
        assert len(running) <= self.config.sequences
        adapters = {r.lora_request.lora_int_id for r in running if r.lora_request}
        assert len(adapters) <= max(self.config.adapter_slots, 0)
        if self.config.policy != "homogeneous" and not record.preempted:
            assert {record.tokens.get(request_id) for request_id in record.decodes} <= {1}
        assert record.snapshot.backlog_tokens == record.backlog

    def _count(self, record: StepRecord) -> None:
        for request_id, tokens in record.tokens.items():
            is_decode = request_id in record.decodes
            unit = "decode" if is_decode else "generation_prefill"
            self.scheduled["embedding_chunk" if request_id[0] == "e" else unit] += tokens
        embedding, generation = record.total_of("e"), record.total_of("g")
        if embedding and generation:
            self.steps["mixed"] += 1
        elif embedding or generation:
            self.steps["embedding" if embedding else "generation"] += 1


CASES = [
    LoopConfig(policy, blocks=blocks, adapter_slots=slots, asynchronous=asynchronous)
    for policy in ("ibs", "fcfs", "homogeneous")
    for blocks in (ROOMY, TIGHT)
    for slots in (0, 3)
    for asynchronous in (False, True)
]


def _name(config: LoopConfig) -> str:
    memory = "tight" if config.blocks == TIGHT else "roomy"
    adapters = "adapters" if config.adapter_slots else "backbone"
    return f"{config.policy}-{memory}-{adapters}-{'async' if config.asynchronous else 'sync'}"


@pytest.mark.parametrize("config", CASES, ids=_name)
def test_every_workload_ends_and_is_counted(config: LoopConfig) -> None:
    workload = Workload(seed=CASES.index(config), config=config)

    workload.play()

    loop = workload.loop
    expected = workload.requests.keys() - workload.aborted
    assert expected <= loop.finished.keys()
    for request_id in expected:
        wanted = 0 if request_id[0] == "e" else workload.requests[request_id].max_tokens
        assert loop.generated[request_id] == wanted
    snapshot = loop.scheduler.snapshot()
    assert snapshot.scheduled_tokens == UnitTokens(**workload.scheduled)
    assert snapshot.to_dict()["steps"] == workload.steps
    assert snapshot.token_budget == config.token_budget * sum(workload.steps.values())
    assert snapshot.backlog_requests.embedding == snapshot.backlog_requests.generation == 0
    assert snapshot.kv_cache_usage == 0.0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_tight_memory_makes_the_scheduler_preempt(asynchronous: bool) -> None:
    """Otherwise the cases above would prove less than they seem to."""
    config = LoopConfig(blocks=TIGHT, asynchronous=asynchronous)
    workloads = [Workload(seed, config) for seed in range(4)]
    for workload in workloads:
        workload.play()

    assert any(record.preempted for w in workloads for record in w.loop.history)
