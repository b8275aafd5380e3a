"""`orthrus bench run` on a real replica."""

import pytest

from orthrus_serving.bench.load.load import CountedClients
from orthrus_serving.bench.load.run import Servers, run
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.prompts import DrawnPrompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.server.replica_process import NAME, ReplicaProcess

pytestmark = pytest.mark.engine

IDS = range(1000, 30000)
PROMPT_TOKENS, OUTPUT_TOKENS = 24, 6


async def test_what_the_client_counts_is_what_the_replica_did(replica: ReplicaProcess) -> None:
    length = parse_lengths(str(PROMPT_TOKENS))
    outputs = parse_lengths(str(OUTPUT_TOKENS))
    prompts = {
        Task.EMBEDDING: DrawnPrompts(Task.EMBEDDING, length, None, IDS),
        Task.GENERATION: DrawnPrompts(Task.GENERATION, length, outputs, IDS),
    }
    workload = Workload(prompts, [Phase(1.0, parse_mix("5:5"))], Unit.REQUESTS, seed=0)
    before = {task: served(replica, task) for task in Task}
    outcomes = await run(
        Servers({task: [replica.url] for task in Task}, generation_extra={"ignore_eos": True}),
        CountedClients(workload, clients=4, requests=20),
    )
    assert {outcome.error for outcome in outcomes} == {None}
    assert {outcome.prompt_tokens for outcome in outcomes} == {PROMPT_TOKENS}
    for task in Task:
        of_task = [outcome for outcome in outcomes if outcome.task is task]
        assert served(replica, task) - before[task] == len(of_task) + 1  # the first one, unmeasured
    for stream in (o for o in outcomes if o.task is Task.GENERATION):
        assert stream.output_tokens == OUTPUT_TOKENS
        assert stream.first_token is not None
        assert 0 < stream.first_token <= stream.latency


def served(replica: ReplicaProcess, task: Task) -> float:
    return replica.metric("orthrus_requests_total", model=NAME, status="ok", type=task.value)
