"""`orthrus serve`: from the command line to the exit code of a replica."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

import uvloop

from orthrus_serving.engine.start_error import Reason, StartError
from orthrus_serving.server.api_key_file import ApiKeyFile
from orthrus_serving.server.listener import ListenOptions, bind
from orthrus_serving.server.replica import EXIT_FAILED, Replica, StartedEngine
from orthrus_serving.server.termination import report_failed_start

logger = logging.getLogger(__name__)

EXIT_USAGE = 2


def serve(arguments: Sequence[str]) -> int:
    """Runs a replica until it is stopped; ends the process itself, whatever threads remain."""
    _set_environment()
    _log_to_stderr()
    if {"-h", "--help"} & set(arguments):
        _print_help()
        return 0
    try:
        options = ListenOptions.from_arguments(arguments)
        # Before minutes of loading: without its keys a replica must not serve.
        keys = ApiKeyFile(options.api_key_file) if options.api_key_file else None
    except (argparse.ArgumentError, OSError, ValueError) as error:
        report_failed_start(Reason.INVALID_ARGUMENTS, str(error))
        return EXIT_USAGE
    logging.getLogger("orthrus_serving").setLevel(options.log_level)
    try:
        listening = bind(options)
    except OSError as error:
        where = f"{options.host}:{options.port}"
        report_failed_start(Reason.START_FAILED, f"cannot listen on {where}: {error}")
        return EXIT_FAILED

    def start_engine() -> StartedEngine:
        from orthrus_serving.engine.frontend.start import start

        return start(arguments)

    try:
        code = uvloop.run(Replica(options, listening, keys).run(start_engine))
    except StartError as error:
        report_failed_start(error.reason, str(error))
        code = EXIT_USAGE if error.reason is Reason.INVALID_ARGUMENTS else EXIT_FAILED
    except Exception as error:
        logger.exception("the replica failed")
        report_failed_start(Reason.START_FAILED, f"{type(error).__name__}: {error}")
        code = EXIT_FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _set_environment() -> None:
    """vLLM reads these when it is imported, and child processes inherit them."""
    # The V2 runner, the default where Triton exists, has other hooks than ours.
    os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"
    # The engine is started from a thread, where fork could copy a held lock.
    os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
    # A replica reports to its owner only.
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    # With it, vLLM's /metrics would show what processes wrote to files, and none of our metrics.
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)


def _log_to_stderr() -> None:
    """Our own lines; vLLM and uvicorn set up theirs."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(asctime)s [%(name)s] %(message)s"))
    logger = logging.getLogger("orthrus_serving")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def _print_help() -> None:
    from orthrus_serving.engine.frontend.arguments import build_parser

    build_parser().print_help()
