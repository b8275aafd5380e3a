"""How a real replica ends."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from e2e.sample_model import sample_model
from e2e.waiting import wait_until
from tests.orthrus_serving.server.replica_process import (
    NAME,
    ORTHRUS,
    ReplicaProcess,
    replica_process,
)
from tests.orthrus_serving.server.test_routes import assert_error_form

pytestmark = pytest.mark.engine

LONG = 200
"""Tokens: seconds of work."""
DRAIN_SECONDS = "300"


@pytest.mark.parametrize(
    "ask",
    [
        ReplicaProcess.terminate,
        pytest.param(ReplicaProcess.interrupt_group, marks=pytest.mark.long),
    ],
)
def test_a_stop_finishes_streams_and_embeddings_and_refuses_the_rest(
    tmp_path: Path, ask: Callable[[ReplicaProcess], None]
) -> None:
    with (
        replica_process(tmp_path, "--drain-timeout", DRAIN_SECONDS) as replica,
        ThreadPoolExecutor(10) as pool,
    ):
        replica.wait_ready()
        # A pooled client whose idle connection must not hold the exit.
        idle = httpx.Client(base_url=replica.url)
        idle.get("/health")
        streams = [pool.submit(_stream, replica) for _ in range(5)]
        replica.wait_metric("orthrus_scheduled_tokens_total", lambda n: n > 0, unit="decode")
        embeddings = [pool.submit(_embed, replica) for _ in range(5)]
        replica.wait_metric(
            "orthrus_scheduled_tokens_total", lambda n: n > 0, unit="embedding_chunk"
        )
        announced = [str(ORTHRUS), "drain", "--announce", "--seconds", "0", "--pid"]
        subprocess.run([*announced, str(replica.process.pid)], check=True)
        wait_until("announced", lambda: _status(replica, "/ready"), lambda s: s == 503, within=10)
        assert _embed(replica).headers["connection"] == "close"
        ask(replica)
        wait_until("draining", lambda: _embed(replica).status_code, lambda s: s == 503, within=10)
        refused = _embed(replica)
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert not all(stream.done() for stream in streams), "nothing was left to drain"
        for stream in streams:
            assert stream.result() == LONG
        assert [future.result().status_code for future in embeddings] == [200] * 5
        assert replica.process.wait(timeout=60) == 0, replica.log_tail()
        idle.close()


def test_a_key_opens_it_and_the_drain_timeout_ends_what_runs_longer(tmp_path: Path) -> None:
    with (
        replica_process(tmp_path, "--drain-timeout", "0", VLLM_API_KEY="right") as replica,
        ThreadPoolExecutor(1) as pool,
    ):
        replica.wait_ready()
        for key in (None, "wrong", " right"):
            refused = _complete(replica, key)
            assert refused.status_code == 401
            assert_error_form(refused)
        waiting: Future[httpx.Response] = pool.submit(_complete, replica, "right")
        replica.wait_metric("orthrus_scheduled_tokens_total", lambda n: n > 0, unit="decode")
        replica.terminate()
        assert waiting.result().status_code == 503
        assert replica.process.wait(timeout=60) == 0, replica.log_tail()


def test_sigterm_during_load_exits_quickly_and_leaves_no_process(tmp_path: Path) -> None:
    with replica_process(tmp_path) as replica:
        replica.wait_listening()
        assert _status(replica, "/ready") == 503
        wait_until("an engine process", replica.descendants, bool, within=300)
        left = replica.descendants()
        replica.terminate()
        assert replica.process.wait(timeout=15) == 0, replica.log_tail()
        _, alive = psutil.wait_procs(left, timeout=15)
        assert not alive


@pytest.mark.parametrize(
    "frozen",
    [
        ReplicaProcess.worker_process,
        pytest.param(ReplicaProcess.engine_process, marks=pytest.mark.long),
    ],
)
def test_a_frozen_process_is_seen_and_a_killed_engine_ends_the_replica_with_an_error(
    tmp_path: Path, frozen: Callable[[ReplicaProcess], psutil.Process]
) -> None:
    with replica_process(tmp_path) as replica, ThreadPoolExecutor(1) as pool:
        replica.wait_ready()
        _freeze_and_thaw(replica, frozen(replica))
        waiting = pool.submit(_complete, replica)
        replica.wait_metric("orthrus_scheduled_tokens_total", lambda n: n > 0, unit="decode")
        replica.engine_process().send_signal(signal.SIGKILL)
        wait_until("not healthy", lambda: _is_healthy(replica), lambda it: not it, within=5)
        assert replica.process.wait(timeout=30) == 1, replica.log_tail()
        assert waiting.result().status_code == 500


@pytest.mark.parametrize(
    ("model", "flags", "said", "code"),
    [
        ("/models/nope", [], "ModelNotFound: /models/nope does not exist", 1),
        ("/models/nope", ["--stream-interval", "2"], "InvalidArguments: --stream-interval", 2),
    ],
)
def test_a_failed_start_says_why_and_exits(
    model: str, flags: list[str], said: str, code: int
) -> None:
    command = [str(ORTHRUS), "serve", model, "--host", "127.0.0.1", "--port", "0", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code
    assert said in done.stderr.splitlines()[-1]


def test_a_failure_in_a_worker_process_is_told_in_its_own_words(tmp_path: Path) -> None:
    model = tmp_path / "broken"
    shutil.copytree(sample_model(), model)
    os.truncate(model / "model.safetensors", 1 << 20)
    command = [str(ORTHRUS), "serve", str(model), "--host", "127.0.0.1", "--port", "0"]
    command += ["--enforce-eager"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 1
    assert "StartFailed: SafetensorError" in done.stderr.splitlines()[-1]


def _freeze_and_thaw(replica: ReplicaProcess, process: psutil.Process) -> None:
    """Idle, the hardest case: no request hangs that could tell."""
    process.suspend()
    wait_until("not healthy", lambda: _is_healthy(replica), lambda it: not it, within=60)
    process.resume()
    wait_until("healthy", lambda: _is_healthy(replica), bool, within=10)


def _is_healthy(replica: ReplicaProcess) -> bool:
    try:
        return _status(replica, "/health") == 200
    except httpx.TransportError:
        return False


def _stream(replica: ReplicaProcess) -> int:
    """Number of tokens by the stream's own account: one message may hold several."""
    body = _completion(stream=True) | {"stream_options": {"include_usage": True}}
    url = f"{replica.url}/v1/completions"
    with httpx.stream("POST", url, json=body, timeout=300) as reply:
        lines = [line for line in reply.iter_lines() if line.startswith("data: ")]
    *_, usage, done = lines
    assert done == "data: [DONE]"
    return int(json.loads(usage.removeprefix("data: "))["usage"]["completion_tokens"])


def _complete(replica: ReplicaProcess, key: str | None = None) -> httpx.Response:
    url = f"{replica.url}/v1/completions"
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return httpx.post(url, json=_completion(stream=False), headers=headers, timeout=300)


def _completion(*, stream: bool) -> dict[str, object]:
    return {
        "model": NAME,
        "prompt": "x",
        "max_tokens": LONG,
        "ignore_eos": True,
        "stream": stream,
    }


def _embed(replica: ReplicaProcess) -> httpx.Response:
    body = {"model": NAME, "input": [[5] * LONG]}
    return httpx.post(f"{replica.url}/v1/embeddings", json=body, timeout=300)


def _status(replica: ReplicaProcess, path: str) -> int:
    return httpx.get(replica.url + path, timeout=30).status_code
