"""Rows, adapter slots and KV blocks: never exceeded, and shared so that nobody starves."""

import pytest

from orthrus_serving.scheduling.admission import Admission
from orthrus_serving.scheduling.fcfs import FirstComeFirstServed
from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.ibs import IntraBatchScheduling
from orthrus_serving.scheduling.lane import Lane
from orthrus_serving.scheduling.limits import OVERTAKING_LIMIT, Limits
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.scheduling.replica import E, G, Replica

CHUNK = 16


def replica(**options: int) -> Replica:
    return Replica(IntraBatchScheduling(CHUNK, 1), **options)  # type: ignore[arg-type]


def test_long_decodes_leave_a_row_to_embeddings() -> None:
    full = replica(sequences=4)
    for _ in range(10):
        full.submit(G, 1, output=1_000)
    full.step()
    assert len(full.decoding) == 3

    embedding = full.submit(E, 5)

    assert embedding in full.step().plan.grants


def test_embeddings_leave_a_row_to_generation() -> None:
    full = replica(sequences=4)
    for _ in range(10):
        full.submit(E, 2)

    assert len(full.step().plan.grants) == 3


def test_long_decodes_leave_an_adapter_slot_to_embeddings() -> None:
    full = replica(adapter_slots=3)
    for adapter in (1, 2, 3, 4):
        full.submit(G, 1, output=1_000, adapter=adapter)
    full.step()
    assert {p.adapter for p in full.decoding} == {1, 2}

    embedding = full.submit(E, 5, adapter=9)

    assert embedding in full.step().plan.grants


def test_a_running_request_keeps_its_adapter_slot_while_it_gets_no_tokens() -> None:
    """vLLM counts the adapters of a step only, and dies when two such requests meet in one."""
    full = replica(adapter_slots=2, token_budget=64)
    long = full.submit(E, 1_000, adapter=1)
    full.step()
    assert long in full.partial

    full.submit(E, 5, adapter=2)
    full.submit(G, 5, output=0, adapter=3)
    for _ in range(3):
        full.step()
        assert {p.adapter for p in full.running} <= {1, 3}


def test_a_loaded_adapter_takes_no_further_slot() -> None:
    full = replica(adapter_slots=2)
    full.submit(G, 1, output=100, adapter=1)
    full.step()

    same = full.submit(E, 5, adapter=1)

    assert same in full.step().plan.grants


def test_a_head_without_an_adapter_slot_is_overtaken_a_bounded_number_of_times() -> None:
    full = replica(adapter_slots=2, sequences=100)
    full.submit(G, 1, output=10_000, adapter=1)
    full.step()
    blocked = full.submit(G, 1, adapter=2)
    others = [full.submit(G, 1, output=10_000, adapter=1) for _ in range(40)]
    for _ in range(60):
        full.step()

    started = [p for p in others if p in full.decoding]
    assert started == others[:OVERTAKING_LIMIT]
    assert blocked.overtaken == OVERTAKING_LIMIT


def test_prompts_of_the_base_model_pass_a_head_without_an_adapter_slot() -> None:
    """They take nothing that it waits for, however long the adapter's streams run."""
    full = replica(adapter_slots=2, sequences=200)
    full.submit(G, 1, output=10_000, adapter=1)
    full.step()
    blocked = [full.submit(G, 1, adapter=adapter) for adapter in range(2, 8)]
    for _ in range(3 * OVERTAKING_LIMIT):
        prompt = full.submit(G, 1)
        assert prompt in full.step().plan.grants
    assert all(head.waiting for head in blocked)
    assert {head.overtaken for head in blocked} == {0}


def test_a_step_looks_at_a_bounded_number_of_requests_that_cannot_run() -> None:
    """However many are queued, and however often the policy asks."""
    queue = (Prefill(str(i), E, arrival=i, remaining=1) for i in range(1000))
    none_free = FreeBlocks(0, needed=lambda prefill, _: prefill.remaining)
    lane = Lane((), queue, Admission(Limits(8), {}, none_free), {})

    assert not any(lane.open for _ in range(100))
    assert int(next(queue).request_id) <= OVERTAKING_LIMIT


@pytest.mark.parametrize("competitor", Task)
def test_a_head_without_blocks_is_not_starved_by_small_requests_of_either_task(
    competitor: Task,
) -> None:
    full = replica(blocks=100, token_budget=32)
    full.submit(competitor, 30, output=5)
    full.step()
    big = full.submit(E, 90)
    for _ in range(100):
        full.submit(competitor, 30, output=5)
        full.step()
    assert big in full.finished


@pytest.mark.parametrize("task", Task)
def test_a_large_head_without_blocks_does_not_block_the_other_task(task: Task) -> None:
    full = replica(blocks=100, token_budget=32)
    full.submit(task, 20, output=200)
    full.submit(G, 20, output=200)
    full.step()
    large = full.submit(task, 90)
    for _ in range(OVERTAKING_LIMIT - 1):
        small = full.submit(E if task is G else G, 3, output=0)
        assert small in full.step().plan.grants
        assert large.waiting


@pytest.mark.parametrize("task", Task)
def test_a_started_prefill_without_blocks_is_overtaken_a_bounded_number_of_times(
    task: Task,
) -> None:
    """Decodes outgrow what was left for them: they go on, what fits beside them runs, of either
    task, and then nothing does until the prefill goes on."""
    full = replica(blocks=100, token_budget=12)
    decodes = [full.submit(G, 3, output=25) for _ in range(2)]
    full.step()
    started = full.submit(E, 85)
    while started in full.step().plan.grants:
        pass
    assert started in full.partial

    admitted = []
    while full.decoding:
        small = full.submit(task, 1, output=0)
        admitted.append(small in full.step().plan.grants)
        full.abort(small)
    assert admitted[: OVERTAKING_LIMIT - 1] == [True] * (OVERTAKING_LIMIT - 1)
    assert sum(admitted) == OVERTAKING_LIMIT
    assert all(full.lengths[decode] == (3, 25) for decode in decodes), "one was preempted"
    assert started in full.step().plan.grants


def test_two_overtaken_heads_do_not_block_each_other() -> None:
    full = replica(blocks=100)
    big = [full.submit(task, 90, output=5) for task in Task]
    for prefill in big:
        prefill.overtaken = OVERTAKING_LIMIT

    for _ in range(50):
        full.step()

    assert set(full.finished) == set(big)


def test_admitted_prefills_fit_together() -> None:
    """Each may be computed to its end: none is left half-way for lack of blocks."""
    full = replica(blocks=100, token_budget=16)
    for _ in range(4):
        full.submit(E, 40)
        full.submit(G, 40, output=0)
    for _ in range(40):
        full.step()
        assert sum(full.lengths[p][0] for p in full.partial) <= 100
    assert len(full.finished) == 8


def test_a_prefill_waits_rather_than_take_blocks_from_decodes() -> None:
    full = replica(blocks=100, token_budget=24)
    decodes = [full.submit(G, 10, output=40) for _ in range(2)]
    full.step()
    full.token_budget = 4
    embedding = full.submit(E, 70)
    for _ in range(200):
        full.step()
    assert full.finished == [*decodes, embedding]
    assert all(full.lengths[prefill] == (10, 40) for prefill in decodes), "one was preempted"


@pytest.mark.parametrize("decodes", [True, False])
def test_a_started_prefill_without_blocks_goes_on_only_if_no_decode_could_lose_them(
    decodes: bool,
) -> None:
    """With no decode running nothing else would free blocks: the engine preempts a prefill."""
    started = Prefill("a", E, arrival=0, remaining=60)
    blocks = FreeBlocks(50, needed=lambda prefill, _: prefill.remaining, decodes=decodes)

    assert Admission(Limits(8), {(E, 0): 1}, blocks).resume(started) is not decodes


@pytest.mark.parametrize("overtaken", [0, OVERTAKING_LIMIT])
def test_an_admission_leaves_free_what_decodes_need_next(overtaken: int) -> None:
    """Also where blocks were set aside for it: a decode without one preempts a prefill."""
    blocks = FreeBlocks(10, needed=lambda prefill, _: prefill.remaining, headroom=2, decodes=True)

    def is_admitted(tokens: int) -> bool:
        waiting = Prefill("a", E, arrival=0, remaining=tokens, overtaken=overtaken)
        admission = Admission(Limits(8), {(G, 0): 2}, blocks)
        if overtaken:
            admission.reserve(waiting)
        return admission.admit(waiting)

    assert is_admitted(8)
    assert not is_admitted(9)


def test_rows_of_both_tasks_together_stay_within_the_batch() -> None:
    full = replica(sequences=4)
    for _ in range(4):
        full.submit(G, 1, output=100)
        full.submit(E, 1)
    full.step()
    for _ in range(4):
        full.submit(E, 10)
    assert len(full.decoding) + len(full.step().plan.grants) <= 4


def test_adapters_of_both_tasks_together_stay_within_the_slots() -> None:
    full = replica(adapter_slots=3, sequences=20)
    for adapter in (1, 2):
        full.submit(G, 1, output=100, adapter=adapter)
    full.step()
    for adapter in (3, 4):
        full.submit(E, 10, adapter=adapter)

    assert {prefill.adapter for prefill in full.step().plan.grants} == {3}


@pytest.mark.parametrize("limits", [{"sequences": 1}, {"sequences": 8, "adapter_slots": 1}])
def test_limits_without_a_place_for_both_tasks_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="set it to 2 or more"):
        Limits(**limits)


def test_first_come_first_served_keeps_no_places() -> None:
    full = Replica(FirstComeFirstServed(), sequences=4)
    requests = [full.submit(G, 1, output=100) for _ in range(4)]

    assert list(full.step().plan.grants) == requests
