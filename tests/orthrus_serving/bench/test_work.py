"""Which requests a workload has, in which order."""

import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthrus_serving.bench.work.interleave import BLOCK, interleave
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase, parse_phases, phase_at
from orthrus_serving.bench.work.prompts import DrawnPrompts, Prompts, read_prompts
from orthrus_serving.bench.work.request import Request
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task

IDS = range(1000, 2000)


def drawn(embedding: str = "128", prompt: str = "64", output: str = "64") -> dict[Task, Prompts]:
    return {
        Task.EMBEDDING: DrawnPrompts(Task.EMBEDDING, parse_lengths(embedding), None, IDS),
        Task.GENERATION: DrawnPrompts(
            Task.GENERATION, parse_lengths(prompt), parse_lengths(output), IDS
        ),
    }


def workload(
    mix: str, unit: Unit = Unit.REQUESTS, seed: int = 0, nonce: int = 0, **lengths: str
) -> Workload:
    return Workload(drawn(**lengths), [Phase(1.0, parse_mix(mix))], unit, seed, nonce)


def first(count: int, of: Workload) -> list[Request]:
    return list(itertools.islice(of.requests(0), count))


@given(share=st.floats(0, 1), seed=st.integers(0, 1000), blocks=st.integers(1, 20))
def test_every_block_has_its_share_to_one_request(share: float, seed: int, blocks: int) -> None:
    order = interleave(share, np.random.default_rng(seed))
    tasks = list(itertools.islice(order, blocks * BLOCK))
    assert abs(tasks.count(Task.GENERATION) - share * blocks * BLOCK) < 1 + 1e-6


@pytest.mark.parametrize(("mix", "generations"), [("9:1", 40), ("5:5", 200), ("10%", 40)])
def test_a_mix_by_requests_counts_requests(mix: str, generations: int) -> None:
    tasks = Counter(request.task for request in first(400, workload(mix)))
    assert tasks[Task.GENERATION] == generations


@given(
    share=st.floats(0.05, 0.95),
    embedding=st.integers(1, 500),
    prompt=st.integers(1, 500),
    output=st.integers(1, 500),
)
def test_a_mix_by_tokens_counts_tokens(
    share: float, embedding: int, prompt: int, output: int
) -> None:
    of = workload(
        f"{100 * share}%",
        Unit.TOKENS,
        embedding=str(embedding),
        prompt=str(prompt),
        output=str(output),
    )
    tokens = Counter[Task]()
    for request in first(1000, of):
        tokens[request.task] += len(request.prompt) + request.max_tokens
    one_request = max(embedding, prompt + output)
    assert abs(tokens[Task.GENERATION] - share * tokens.total()) <= one_request + 1


def test_a_seed_fixes_the_work() -> None:
    assert first(50, workload("5:5", seed=1)) == first(50, workload("5:5", seed=1))
    assert first(50, workload("5:5", seed=1)) != first(50, workload("5:5", seed=2))


def test_a_nonce_changes_what_prompts_say_and_nothing_else() -> None:
    """A server that has seen the one work has no part of the other in its prefix cache."""

    def work(nonce: int) -> list[Request]:
        return first(
            60,
            workload(
                "5:5",
                nonce=nonce,
                embedding="uniform:9,99",
                prompt="uniform:9,99",
                output="uniform:3,9",
            ),
        )

    one, other = work(1), work(2)
    assert one == work(1)
    assert [weight(request) for request in one] == [weight(request) for request in other]
    assert not {tuple(r.prompt[:4]) for r in one} & {tuple(r.prompt[:4]) for r in other}


def weight(request: Request) -> tuple[Task, int, int]:
    return request.task, len(request.prompt), request.max_tokens


def test_a_mix_does_not_change_the_prompts_of_a_task() -> None:
    few = [r for r in first(100, workload("9:1")) if r.task is Task.GENERATION]
    many = [r for r in first(100, workload("1:9")) if r.task is Task.GENERATION]
    assert few == many[: len(few)]


@given(
    text=st.sampled_from(["7", "uniform:3,9", "choice:3,9", "lognormal:6,1,9", "exponential:6,9"])
)
def test_lengths_stay_in_their_bounds(text: str) -> None:
    lengths = parse_lengths(text)
    found = [lengths.draw(np.random.default_rng(seed)) for seed in range(50)]
    assert all(isinstance(length, int) and 1 <= length <= 9 for length in found)
    assert np.mean(found) == pytest.approx(lengths.mean, abs=1.5)


@pytest.mark.parametrize(
    "text", ["", "0", "-3", "x", "uniform:9,3", "uniform:9", "zipf:3", "lognormal:6,1", "0.5"]
)
def test_lengths_that_make_no_sense_are_told_how_to_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="lengths"):
        parse_lengths(text)


@pytest.mark.parametrize("text", ["", "9", "0:0", "-1:2", "a:b", "120%", "1:2:3"])
def test_mixes_that_make_no_sense_are_told_how_to_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="EMBEDDING:GENERATION"):
        parse_mix(text)


def test_phases_follow_one_another_and_the_last_one_stays() -> None:
    phases = parse_phases("60@10%,30@1:9")
    assert [str(phase) for phase in phases] == ["60@10%", "30@1:9"]
    assert [phase_at(phases, at) for at in (0, 59.9, 60, 89.9, 90, 1e6)] == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("text", ["", "60", "0@1:1", "x@1:1", "60@"])
def test_phases_that_make_no_sense_are_told_how_to_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_phases(text)


def test_real_prompts_are_read_and_repeated(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    lines = [
        {"task": "embedding", "prompt": "a river"},
        {"prompt": "Once", "max_tokens": 9},
        {"messages": [{"role": "user", "content": "hi"}]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    read = read_prompts(path, parse_lengths("5"))
    generations = list(
        itertools.islice(read[Task.GENERATION].requests(*map(np.random.default_rng, (0, 0))), 3)
    )
    assert [g.max_tokens for g in generations] == [9, 5, 9]
    assert generations[1].prompt == [{"role": "user", "content": "hi"}]
    assert read[Task.EMBEDDING].read == [Request(Task.EMBEDDING, "a river")]


@pytest.mark.parametrize(
    "line", ["{", '{"prompt": ""}', '{"prompt": 3}', '{"task": "x", "prompt": "y"}', ""]
)
def test_a_line_that_is_no_prompt_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text(line)
    with pytest.raises(ValueError, match=r"prompts\.jsonl"):
        read_prompts(path, parse_lengths("5"))


def test_a_mix_without_its_prompts_is_refused() -> None:
    only = {Task.GENERATION: drawn()[Task.GENERATION]}
    with pytest.raises(ValueError, match="embedding prompts"):
        Workload(only, [Phase(1.0, parse_mix("1:1"))], Unit.REQUESTS, 0)
    assert Workload(only, [Phase(1.0, parse_mix("0:1"))], Unit.REQUESTS, 0).tasks() == {
        Task.GENERATION
    }
