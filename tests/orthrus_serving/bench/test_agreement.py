"""The same requests for `vllm bench serve` and for us."""

import json
from pathlib import Path

import pytest

from orthrus_serving.bench.agreement.prompts import WORDS, write_prompts
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.prompts import read_prompts
from orthrus_serving.scheduling.task import Task


@pytest.mark.slow
@pytest.mark.parametrize("task", Task)
def test_both_clients_read_the_same_prompts_of_the_same_lengths(tmp_path: Path, task: Task) -> None:
    path = tmp_path / "prompts.jsonl"
    write_prompts(path, task, requests=12, output_tokens=9)
    theirs = [json.loads(line) for line in path.read_text().splitlines()]
    ours = read_prompts(path, parse_lengths("1"))[task].read
    assert [line["prompt"] for line in theirs] == [request.prompt for request in ours]
    assert {len(line["prompt"].split()) for line in theirs} == {WORDS}
    assert len({line["prompt"] for line in theirs}) == 12
    assert {line["output_tokens"] for line in theirs} == {9}
    if task is Task.GENERATION:
        assert {request.max_tokens for request in ours} == {9}


def test_no_prompt_comes_twice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are"):
        write_prompts(tmp_path / "x.jsonl", Task.EMBEDDING, requests=100_000, output_tokens=1)
