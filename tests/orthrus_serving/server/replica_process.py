"""A real `orthrus serve` process on a free port."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from e2e.replica_metrics import samples
from e2e.sample_model import sample_model
from e2e.waiting import wait_until

ORTHRUS = Path(sys.executable).parent / "orthrus"
NAME = "smollm2"
ALIAS = "smollm2-alias"
CHUNK = 16
"""C"""
BUDGET = 64
"""B"""
MODEL_LENGTH = 256
"""L"""
QUEUED_TOKENS = 64 * MODEL_LENGTH
LISTEN_SECONDS = 60
LOAD_SECONDS = 540

_SIZES = {
    "--max-model-len": MODEL_LENGTH,
    "--max-num-batched-tokens": BUDGET,
    "--embedding-chunk-tokens": CHUNK,
    "--max-num-seqs": 8,
    "--max-queued-tokens": QUEUED_TOKENS,
}


@dataclass
class ReplicaProcess:
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def wait_listening(self) -> None:
        """Until something answers at all."""
        self._wait("listens", "/health", within=LISTEN_SECONDS)

    def wait_ready(self) -> None:
        self._wait("is ready", "/ready", within=LOAD_SECONDS)

    def _wait(self, what: str, path: str, within: float) -> None:
        def observe() -> str:
            if self.process.poll() is not None:
                raise AssertionError(f"exited {self.process.returncode}\n{self.log_tail()}")
            try:
                return str(httpx.get(self.url + path, timeout=30).status_code)
            except httpx.TransportError as error:
                return repr(error)

        wait_until(f"the replica {what}", observe, lambda s: s == "200", within=within, every=0.2)

    def log_tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def engine_process(self) -> psutil.Process:
        return self._named("EngineCore")

    def worker_process(self) -> psutil.Process:
        return self._named("Worker")

    def _named(self, title: str) -> psutil.Process:
        return next(p for p in self.descendants() if title in " ".join(p.cmdline()))

    def interrupt_group(self) -> None:
        """As Ctrl-C in a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def metric(self, name: str, **labels: str) -> float:
        """Value of one sample of /metrics; those of the engine are missing while it is late."""
        [value] = wait_until(
            name, lambda: samples(self.url, name, **labels), bool, within=60, every=0.2
        )
        return value

    def wait_metric(self, name: str, accept: Callable[[float], bool], **labels: str) -> None:
        """Snapshots are a second apart, and later on a busy machine."""
        wait_until(name, lambda: self.metric(name, **labels), accept, within=60, every=0.1)


@contextmanager
def replica_process(
    folder: Path, *flags: str, model: str | None = None, **variables: str
) -> Iterator[ReplicaProcess]:
    """Starts a replica, and ends it and its processes afterwards; `folder` gets its log.

    `model`: the sample model when not given. `variables`: of its environment.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [ORTHRUS, "serve", model or sample_model()]
    command += ["--served-model-name", NAME, ALIAS, "--host", "127.0.0.1", "--port", port]
    command += ["--dtype", "float32", "--enforce-eager"]
    command += [part for flag_and_value in _SIZES.items() for part in flag_and_value]
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
    environment = os.environ | {
        "VLLM_CPU_OMP_THREADS_BIND": cores,
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "OMP_WAIT_POLICY": "passive",  # the cores are shared with whatever else runs here
        **variables,
    }
    log = folder / "replica.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*map(str, command), *flags],
            env=environment,
            stdout=output,
            stderr=output,
            process_group=0,
        )
    replica = ReplicaProcess(process, f"http://127.0.0.1:{port}", log)
    try:
        yield replica
    finally:
        if process.poll() is None:
            left = replica.descendants()
            process.kill()
            for child in left:
                child.kill()
            process.wait()
