"""The same requests by each of the two clients."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orthrus_serving.bench.load.load import CountedClients
from orthrus_serving.bench.load.measure import measure
from orthrus_serving.bench.load.run import Servers
from orthrus_serving.bench.suite.launch import MODEL, program
from orthrus_serving.bench.suite.vllm_name import vllm_variables
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.prompts import read_prompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task

RATE = "requests per second"
Found = Mapping[str, float]
"""Figures by name; durations in milliseconds."""


class SideFailedError(Exception):
    """A client that did not do its work; says why."""


@dataclass(frozen=True)
class Job:
    """All of the prompts in a file, once, by so many clients."""

    url: str
    task: Task
    prompts: Path
    requests: int
    clients: int
    tokenizer: str


def ours(job: Job) -> Found:
    """By `orthrus bench run`."""
    mix = parse_mix("0:1" if job.task is Task.GENERATION else "1:0")
    prompts = read_prompts(job.prompts, parse_lengths("1"))
    workload = Workload(prompts, [Phase(1.0, mix)], Unit.REQUESTS, seed=0)
    servers = Servers(
        {job.task: [job.url]}, {job.task: MODEL}, generation_extra={"ignore_eos": True}
    )
    load = CountedClients(workload, job.clients, job.requests)
    found = measure(servers, load).summaries[0].tasks[job.task]
    if found.errors or found.latency is None:
        raise SideFailedError(f"orthrus bench run: {found.errors}")
    figures = {RATE: found.requests_per_second, "end to end p50": found.latency.p50 * 1000}
    if found.first_token and found.seconds_per_token:
        figures["first token p50"] = found.first_token.p50 * 1000
        figures["per output token p50"] = found.seconds_per_token.p50 * 1000
    return figures


def theirs(job: Job) -> Found:
    """By `vllm bench serve`."""
    generates = job.task is Task.GENERATION
    with tempfile.TemporaryDirectory() as folder:
        command = [
            program("vllm"),
            "bench",
            "serve",
            f"--base-url={job.url}",
            f"--backend={'openai' if generates else 'openai-embeddings'}",
            f"--endpoint=/v1/{'completions' if generates else 'embeddings'}",
            f"--model={job.tokenizer}",
            f"--served-model-name={MODEL}",
            "--dataset-name=custom",
            f"--dataset-path={job.prompts}",
            "--disable-shuffle",
            "--skip-chat-template",
            "--custom-output-len=-1",
            f"--num-prompts={job.requests}",
            f"--max-concurrency={job.clients}",
            "--ignore-eos",
            "--temperature=0",
            "--percentile-metrics=ttft,tpot,itl,e2el",
            "--disable-tqdm",
            "--save-result",
            f"--result-dir={folder}",
            "--result-filename=result.json",
        ]
        done = subprocess.run(  # noqa: S603
            command,
            env=os.environ | vllm_variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        result = Path(folder) / "result.json"
        if done.returncode or not result.exists():
            raise SideFailedError(f"vllm bench serve: {(done.stderr or done.stdout)[-2000:]}")
        found = json.loads(result.read_text())
    if found["completed"] != job.requests:
        raise SideFailedError(f"vllm bench serve completed {found['completed']} requests")
    figures = {RATE: found["request_throughput"], "end to end p50": found["median_e2el_ms"]}
    if generates:
        figures["first token p50"] = found["median_ttft_ms"]
        figures["per output token p50"] = found["median_tpot_ms"]
    return figures
