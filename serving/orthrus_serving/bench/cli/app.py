"""`orthrus bench`: its commands. Each imports what it needs only when it runs."""

import signal
import sys
from collections.abc import Sequence

import typer

from orthrus_serving.bench.cli.agreement import agreement
from orthrus_serving.bench.cli.ceiling import ceiling
from orthrus_serving.bench.cli.compare import compare
from orthrus_serving.bench.cli.iter_retgen import iter_retgen
from orthrus_serving.bench.cli.run import run
from orthrus_serving.bench.cli.suite import suite

_HELP = "Mixed embedding and generation load on OpenAI-compatible servers, measured for each task."

app = typer.Typer(
    name="orthrus bench",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command()(compare)
app.command()(ceiling)
app.command()(suite)
app.command()(agreement)
app.command()(iter_retgen)


def bench(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code of the process."""
    # Engines and servers that a command has started end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app(list(arguments), prog_name="orthrus bench")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0
