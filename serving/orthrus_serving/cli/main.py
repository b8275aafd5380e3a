"""The `orthrus` command."""

import gc
import os
import signal
import sys

# Importing vLLM makes half a million objects, which stay; at Python's threshold of 700 the
# collector would walk them again and again. Processes of the engine import this module first, too.
gc.set_threshold(50_000, 20, 100)


def main() -> None:
    """Entry point. Python is PID 1 in a replica's container, where a signal without a handler is
    lost: the first one is in place before anything heavy is imported."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    # `orthrus drain --announce`, which would kill a process that is not prepared.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    from orthrus_serving.cli.commands import run

    sys.exit(run(sys.argv[1:]))
