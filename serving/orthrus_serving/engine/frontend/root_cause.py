"""Carries the exception that stopped an engine or worker process back to the server process.

vLLM's client only learns that a process "failed, see root cause above". Both kinds of process log
that cause with its traceback; we note the first one in a file that they inherit by environment.
"""

import logging
import os
from pathlib import Path
from typing import Any

from vllm.v1.engine.core import EngineCoreProc
from vllm.v1.executor.multiproc_executor import WorkerProc

from orthrus_serving.engine.child_processes import end_children

WORKER_EXIT_SECONDS = 10.0
FILE_VARIABLE = "ORTHRUS_ROOT_CAUSE_FILE"
_LOGGERS = ("vllm.v1.engine.core", "vllm.v1.executor.multiproc_executor")

_vllm_run_engine_core = EngineCoreProc.run_engine_core
_vllm_worker_main = WorkerProc.worker_main


class _NoteFirstException(logging.Filter):
    """A filter, since vLLM's logging set-up removes handlers of its own loggers."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            try:
                with Path(os.environ[FILE_VARIABLE]).open("x") as file:
                    file.write(f"{type(error).__name__}: {error}")
            except OSError:
                pass  # an earlier exception is noted, or the server has gone
        return True


def run_engine_core(*arguments: Any, **named: Any) -> None:
    """The main function of the engine process."""
    # Workers are spawned with whatever `worker_main` is here.
    WorkerProc.worker_main = staticmethod(worker_main)
    _note_exceptions()
    try:
        _vllm_run_engine_core(*arguments, **named)
    finally:
        end_children(WORKER_EXIT_SECONDS)


def worker_main(*arguments: Any, **named: Any) -> None:
    """The main function of a worker process."""
    _note_exceptions()
    _vllm_worker_main(*arguments, **named)


def _note_exceptions() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_NoteFirstException())


def install(file: Path) -> None:
    """Engine processes started from now on note their root cause in `file`."""
    os.environ[FILE_VARIABLE] = str(file)
    EngineCoreProc.run_engine_core = staticmethod(run_engine_core)
