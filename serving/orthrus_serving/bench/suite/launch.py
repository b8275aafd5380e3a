"""Start an engine, wait until it serves, stop it."""

import ctypes
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil

from orthrus_serving.bench.suite.devices import Devices, pinned
from orthrus_serving.bench.suite.engine import Engine, Kind
from orthrus_serving.bench.suite.vllm_name import vllm_variables

MODEL = "bench"
"""Served name, the same everywhere."""
_START_SECONDS = 900.0
_STOP_SECONDS = 30.0
_KILL_SECONDS = 10.0
_POLL_SECONDS = 0.5
_KILLED_POLL_SECONDS = 0.02
_TAIL_LINES = 25
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None)


class EngineFailedError(Exception):
    """An engine that does not serve, or no longer; ends with the last lines of its log."""


@dataclass(frozen=True)
class Model:
    """What every engine serves, and with which sizes."""

    path: str
    length: int
    """L; also the smallest budget, since stock mean pooling takes a prompt in one step."""
    budget: int
    """B"""
    chunk: int
    """C, of Orthrus."""
    sequences: int
    flags: Sequence[str] = ()
    """More, for all engines."""


@dataclass(frozen=True)
class RunningEngine:
    """A process group and its address."""

    engine: Engine
    process: "subprocess.Popen[bytes]"
    url: str
    log: Path

    def wait_serving(self) -> None:
        """Until it lists its model.

        Raises:
            EngineFailedError: it ended, or takes too long.
        """
        deadline = time.monotonic() + _START_SECONDS
        while not self._serves():
            self.check()
            if time.monotonic() > deadline:
                raise self._failed(f"does not serve after {_START_SECONDS:g} s")
            time.sleep(_POLL_SECONDS)

    def check(self) -> None:
        """Raises EngineFailedError: its first process has ended."""
        code = self.process.poll()
        if code is not None:
            raise self._failed(f"ended with code {code}")

    def _failed(self, how: str) -> EngineFailedError:
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:])
        return EngineFailedError(f"{self.engine.name} {how} ({self.log}):\n{tail}")

    def _serves(self) -> bool:
        try:
            return httpx.get(f"{self.url}/v1/models", timeout=5).status_code == HTTPStatus.OK
        except httpx.TransportError:
            return False

    def ask_to_end(self) -> None:
        """Politely, and without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Ends the whole group, also what a first process that has crashed left behind, and waits
        until its memory is free for the next engine."""
        self.ask_to_end()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        deadline = time.monotonic() + _KILL_SECONDS
        while _runs(self.process.pid) and time.monotonic() < deadline:
            time.sleep(_KILLED_POLL_SECONDS)


def _runs(group: int) -> bool:
    """Whether a process of a group has not ended; who should reap it may never do so."""
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


def launch(engine: Engine, model: Model, devices: Devices, logs: Path) -> RunningEngine:
    """Starts an engine; `wait_serving` tells when it is up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    logs.mkdir(parents=True, exist_ok=True)
    log = _unused(logs, engine.name)
    environment = {
        **os.environ,
        "VLLM_NO_USAGE_STATS": "1",
        **(vllm_variables() if engine.kind is not Kind.ORTHRUS else {}),
        **devices.variables(engine),
    }
    with log.open("wb") as output, pinned(devices.cores(engine)):
        process = subprocess.Popen(  # noqa: S603
            command(engine, model, devices, port),
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 (calls into the C library alone)
        )
    return RunningEngine(engine, process, f"http://127.0.0.1:{port}", log)


def _end_with_parent() -> None:
    """A suite that is killed cannot stop its engines; the kernel asks them to end then."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _unused(logs: Path, name: str) -> Path:
    """An engine that starts again leaves the log of the one that crashed."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(log for log in (logs / f"{each}.log" for each in names) if not log.exists())


def command(engine: Engine, model: Model, devices: Devices, port: int) -> list[str]:
    """The command line of an engine."""
    words = [*words_of(engine, model, devices), "--host=127.0.0.1", f"--port={port}"]
    return [program(words[0]), *words[1:]]


def words_of(engine: Engine, model: Model, devices: Devices) -> list[str]:
    """What an engine is; everything that is no part of a comparison is equal."""
    return [
        "orthrus" if engine.kind is Kind.ORTHRUS else "vllm",
        "serve",
        model.path,
        f"--served-model-name={MODEL}",
        f"--max-model-len={model.length}",
        f"--max-num-batched-tokens={model.budget}",
        f"--max-num-seqs={model.sequences}",
        "--no-enable-prefix-caching",
        "--disable-uvicorn-access-log",
        *_OF_KIND[engine.kind],
        *([f"--embedding-chunk-tokens={model.chunk}"] if engine.kind is Kind.ORTHRUS else []),
        *devices.flags(engine),
        *model.flags,
        *engine.flags,  # the last of two flags counts
    ]


_OF_KIND: dict[Kind, Sequence[str]] = {
    Kind.ORTHRUS: ("--embedding-pooling=mean",),
    Kind.GENERATE: (),
    Kind.POOLING: (
        "--runner=pooling",
        "--convert=embed",
        '--pooler-config={"pooling_type": "MEAN"}',
    ),
}


def program(name: str) -> str:
    """Beside this interpreter, else on the path: an environment need not be active."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise EngineFailedError(f"`{name}` is not installed: the suite starts it")
    return found
