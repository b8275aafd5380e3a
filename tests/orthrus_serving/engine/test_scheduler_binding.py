"""What the binding adds to vLLM's scheduler, one behaviour at a time."""

import gc
import weakref
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from vllm.sampling_params import StructuredOutputsParams
from vllm.v1.core.sched.interface import PauseState
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.engine.core import EngineCore
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import RequestStatus

from orthrus_serving.engine import scheduler_snapshot
from tests.orthrus_serving.engine.scheduler_loop import (
    BLOCK_SIZE,
    CountingWorker,
    EngineLoop,
    LoopConfig,
    RequestMaker,
)


@pytest.fixture
def make() -> RequestMaker:
    return RequestMaker()


@pytest.mark.parametrize("budget", [64, 127, 128, 256])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_embedding_of_the_whole_model_length_is_computed_to_its_last_token(
    make: RequestMaker, budget: int, asynchronous: bool
) -> None:
    loop = EngineLoop(LoopConfig(token_budget=budget, asynchronous=asynchronous))
    embedding = make.embedding(loop.config.max_model_len)
    loop.add(embedding, make.generation(20, max_tokens=10))

    loop.run(max_steps=30)

    assert loop.finished[embedding.request_id] == "stop"
    assert all(record.total <= budget for record in loop.history)


def test_a_one_token_prompt_behind_an_embedding_backlog_runs_in_the_next_step(
    make: RequestMaker,
) -> None:
    loop = EngineLoop()
    loop.add(*(make.embedding(100) for _ in range(50)))
    loop.step()
    prompt = make.generation(1)
    loop.add(prompt)

    assert loop.step().tokens[prompt.request_id] == 1


def test_embeddings_and_generations_share_a_step(make: RequestMaker) -> None:
    loop = EngineLoop()
    loop.add(*(make.embedding(100) for _ in range(9)), *(make.generation(100) for _ in range(3)))

    record = loop.step()

    assert record.total_of("e") == 48
    assert record.total_of("g") == 16


def test_embeddings_finish_one_after_the_other(make: RequestMaker) -> None:
    loop = EngineLoop()
    embeddings = [make.embedding(100) for _ in range(4)]
    loop.add(*embeddings)

    loop.run(max_steps=10)

    assert list(loop.finished) == [embedding.request_id for embedding in embeddings]
    assert all(len(record.tokens) <= 2 for record in loop.history)


@pytest.mark.parametrize(("pooling", "reads"), [("mean", False), ("cls", False), ("last", True)])
def test_only_last_token_embeddings_read_the_prefix_cache(
    make: RequestMaker, pooling: str, reads: bool
) -> None:
    loop = EngineLoop()
    prompt = make.prompt(6 * BLOCK_SIZE)
    loop.add(make.generation(prompt))
    loop.run(max_steps=10)
    embedding = make.embedding(prompt, pooling)
    loop.add(embedding)

    loop.run(max_steps=10)

    assert loop.worker.cached_tokens[embedding.request_id] == (5 * BLOCK_SIZE if reads else 0)


@pytest.mark.parametrize(("pooling", "writes"), [("mean", False), ("last", True)])
def test_only_last_token_embeddings_write_the_prefix_cache(
    make: RequestMaker, pooling: str, writes: bool
) -> None:
    loop = EngineLoop()
    prompt = make.prompt(6 * BLOCK_SIZE)
    loop.add(make.embedding(prompt, pooling))
    loop.run(max_steps=10)
    generation = make.generation(prompt)
    loop.add(generation)

    loop.run(max_steps=10)

    assert (loop.worker.cached_tokens[generation.request_id] > 0) is writes


def test_a_stream_of_embeddings_does_not_evict_the_prefixes_of_generations(
    make: RequestMaker,
) -> None:
    loop = EngineLoop(LoopConfig(blocks=40))
    prompt = make.prompt(6 * BLOCK_SIZE)
    loop.add(make.generation(prompt))
    loop.run(max_steps=10)
    for _ in range(20):
        loop.add(make.embedding(100))
        loop.run(max_steps=10)
    again = make.generation(prompt)
    loop.add(again)

    loop.run(max_steps=10)

    assert loop.worker.cached_tokens[again.request_id] == 5 * BLOCK_SIZE


@pytest.mark.parametrize("others", ["embedding", "generation"])
def test_tokens_that_a_prefix_hit_saves_go_to_waiting_requests(
    make: RequestMaker, others: str
) -> None:
    """Beside embeddings, planned ones take them; generations were not even planned."""
    loop = EngineLoop(LoopConfig(token_budget=64))
    prompt = make.prompt(100)
    loop.add(make.generation(prompt))
    loop.run(max_steps=10)
    another = make.embedding if others == "embedding" else make.generation
    loop.add(make.generation(prompt), *(another(30) for _ in range(5)))

    assert loop.step().total == 64


def test_a_request_may_be_admitted_for_the_blocks_that_it_shares(make: RequestMaker) -> None:
    loop = EngineLoop(LoopConfig(blocks=18))
    prompt = make.prompt(100)
    first, second = (make.generation(prompt, max_tokens=8) for _ in range(2))
    loop.add(first)
    loop.step()
    loop.step()
    loop.add(second)

    assert loop.step().tokens.keys() == {first.request_id, second.request_id}


def test_the_request_with_the_least_work_to_lose_is_preempted(make: RequestMaker) -> None:
    loop = EngineLoop(LoopConfig(blocks=18))
    old_but_short = make.generation(8, max_tokens=100)
    loop.add(old_but_short)
    loop.step()
    long = make.generation(100, max_tokens=28)
    loop.add(long)
    loop.run(max_steps=200)

    victims = [record.preempted for record in loop.history if record.preempted]
    assert victims
    assert long.request_id not in set().union(*victims)


def test_a_partly_pooled_embedding_is_not_preempted_while_a_generation_can_be(
    make: RequestMaker,
) -> None:
    """The decodes grow into blocks that the embedding holds, and have more work to lose."""
    loop = EngineLoop(LoopConfig(blocks=19, sequences=4, token_budget=16))
    decodes = [make.generation(16, max_tokens=60) for _ in range(2)]
    loop.add(*decodes)
    for _ in range(8):
        loop.step()
    loop.scheduler.max_num_scheduled_tokens = 5
    embedding = make.embedding(72)
    loop.add(embedding)

    loop.run(max_steps=300)

    victims = set().union(*(record.preempted for record in loop.history))
    assert victims
    assert victims <= {decode.request_id for decode in decodes}
    assert next(iter(loop.finished)) == embedding.request_id


@pytest.mark.parametrize("asynchronous", [False, True])
def test_preemptions_end_although_the_requests_do_not_fit_together(
    make: RequestMaker, asynchronous: bool
) -> None:
    """Each alone takes almost all blocks, so that none can end while another runs."""
    config = LoopConfig(blocks=18, sequences=8, asynchronous=asynchronous)
    loop = EngineLoop(config)
    for _ in range(6):
        loop.add(make.generation(4, max_tokens=124), make.embedding(120))
        loop.step()

    loop.run(max_steps=2_000)

    assert sum(len(record.preempted) for record in loop.history) >= 3
    assert len(loop.finished) == 12


def test_a_large_head_without_blocks_does_not_block_the_other_task(make: RequestMaker) -> None:
    loop = EngineLoop(LoopConfig(blocks=18))
    stream = make.generation(40, max_tokens=60)
    loop.add(stream)
    loop.step()
    large = make.embedding(120)
    loop.add(large)

    for _ in range(10):
        prompt = make.generation(8, max_tokens=1)
        loop.add(prompt)
        tokens = loop.step().tokens
        assert tokens[prompt.request_id] == 8
        assert tokens[stream.request_id] == 1
        assert large.request_id not in tokens

    loop.run(max_steps=200)
    assert large.request_id in loop.finished


def test_a_chunk_waits_rather_than_preempt_a_decode(make: RequestMaker) -> None:
    """The decodes grow into the blocks that the embedding was admitted for."""
    loop = EngineLoop(LoopConfig(blocks=17, sequences=3))
    decodes = [make.generation(8, max_tokens=33) for _ in range(2)]
    loop.add(*decodes)
    loop.step()
    loop.scheduler.max_num_scheduled_tokens = 4
    embedding = make.embedding(64)
    loop.add(embedding)

    loop.run(max_steps=60)

    assert not any(record.preempted for record in loop.history)
    assert list(loop.finished) == [r.request_id for r in (*decodes, embedding)]


def test_a_request_weighs_nothing_while_output_of_before_its_preemption_is_on_its_way(
    make: RequestMaker,
) -> None:
    loop = EngineLoop(LoopConfig(asynchronous=True))
    embedding = make.embedding(100)
    loop.add(embedding)
    loop.step()
    loop.scheduler.running.remove(embedding)
    loop.scheduler._preempt_request(embedding, timestamp=0.0)

    assert loop.scheduler.snapshot().backlog_tokens.embedding == 0
    loop.run(max_steps=10)
    assert embedding.request_id in loop.finished


def test_requests_that_a_pause_kept_from_running_run_after_it(make: RequestMaker) -> None:
    """They were planned, but vLLM's loop did not take them up."""
    loop = EngineLoop()
    loop.scheduler.set_pause_state(PauseState.PAUSED_NEW)
    loop.add(make.embedding(100), make.generation(20))
    assert not loop.step().tokens

    loop.scheduler.set_pause_state(PauseState.UNPAUSED)
    loop.run(max_steps=20)

    assert loop.finished.keys() == {"e1", "g2"}


def test_an_unscheduled_running_request_counts_for_its_adapter(make: RequestMaker) -> None:
    """vLLM itself counts only scheduled ones, and its engine dies of an assertion later."""
    loop = EngineLoop(LoopConfig(policy="homogeneous", adapter_slots=2, token_budget=16))
    loop.add(make.embedding(100, adapter=1), make.generation(100, adapter=2))
    loop.add(make.embedding(100, adapter=3), make.generation(100, adapter=4))

    for _ in range(60):
        loop.step()
        running = loop.scheduler.running
        assert len({r.lora_request.lora_int_id for r in running if r.lora_request}) <= 2

    assert len(loop.finished) == 4


def test_a_request_whose_grammar_compiles_neither_weighs_nor_blocks(make: RequestMaker) -> None:
    loop = EngineLoop()
    held = make.generation(50, structured_outputs=StructuredOutputsParams(regex="a+"))
    free = make.generation(50)
    compiling: Future[Any] = Future()
    assert held.structured_output_request is not None
    held.structured_output_request.grammar = compiling
    loop.add(held, free)

    assert loop.step().tokens == {free.request_id: 50}
    assert loop.scheduler.snapshot().backlog_requests.generation == 0

    compiling.set_result(SimpleNamespace(accept_tokens=lambda *_: True))
    assert held.request_id in loop.step().tokens


class SilentWorker(CountingWorker):
    """Never answers an embedding."""

    def execute(self, step: SchedulerOutput) -> ModelRunnerOutput:
        output = super().execute(step)
        output.pooler_output = [None] * len(output.req_ids)
        return output


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_embedding_that_the_worker_does_not_answer_ends_as_an_error(
    make: RequestMaker, asynchronous: bool
) -> None:
    loop = EngineLoop(LoopConfig(asynchronous=asynchronous), worker=SilentWorker())
    loop.add(make.embedding(100), make.generation(20))

    loop.run(max_steps=30)

    assert loop.finished == {"e1": "error", "g2": "length"}
    assert loop.vectors["e1"].numel() == 0


@pytest.mark.parametrize("aborted", [False, True])
def test_a_request_is_freed_as_it_ends(make: RequestMaker, aborted: bool) -> None:
    """Kept in a cycle, it would wait for Python's collector, in the middle of some step."""
    loop = EngineLoop()
    request = make.generation(20, max_tokens=4)
    alive = weakref.ref(request)
    loop.add(request)
    gc.disable()
    try:
        loop.step()
        if aborted:
            loop.scheduler.finish_requests(request.request_id, RequestStatus.FINISHED_ABORTED)
        del request
        loop.run(max_steps=20)
        loop.step()
        assert alive() is None
    finally:
        gc.enable()


def test_the_engine_reports_a_snapshot_as_plain_data(make: RequestMaker) -> None:
    loop = EngineLoop()
    loop.add(make.embedding(100), make.generation(10))
    loop.step()

    report = vars(EngineCore)["orthrus_snapshot"](SimpleNamespace(scheduler=loop.scheduler))

    assert report["scheduled_tokens"] == {
        "embedding_chunk": 54,
        "generation_prefill": 10,
        "decode": 0,
    }
    assert report["token_budget"] == 64
    assert report["steps"] == {"mixed": 1, "embedding": 0, "generation": 0}
    assert report["backlog_tokens"] == {"embedding": 46, "generation": 0}
    assert report["backlog_requests"] == {"embedding": 1, "generation": 0}
    assert 0 < report["kv_cache_usage"] < 1


def test_a_worker_that_is_silent_is_asked_before_the_engine_answers(
    make: RequestMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it idles, a hung one would not be missed."""
    monkeypatch.setattr(scheduler_snapshot, "WORKER_SILENCE_SECONDS", 0)
    loop = EngineLoop()
    asked: list[str] = []
    core = SimpleNamespace(
        scheduler=loop.scheduler, model_executor=SimpleNamespace(collective_rpc=asked.append)
    )
    report = vars(EngineCore)["orthrus_snapshot"]

    report(core)
    assert asked == ["check_health"]
    loop.add(make.embedding(10))
    loop.step()
    report(core)
    assert asked == ["check_health"], "a step is a sign of life"
    report(core)
    assert asked == ["check_health"] * 2


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (LoopConfig(sequences=64, token_budget=64), "max_num_seqs is 64, but must be below"),
        (LoopConfig(sequences=1), "max_num_seqs is 1"),
        (LoopConfig(adapter_slots=1), "max_loras is 1"),
        (LoopConfig(policy="lifo"), "no batch policy 'lifo'"),
    ],
)
def test_a_configuration_that_shuts_a_task_out_is_refused(config: LoopConfig, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EngineLoop(config)
