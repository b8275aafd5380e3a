"""`orthrus bench`: its commands. Each imports what it needs only when it runs."""

import signal
import sys
from collections.abc import Sequence
from types import FrameType

import typer

from orthrus_serving.bench.cli.agreement import AgreementOptions, agreement
from orthrus_serving.bench.cli.ceiling import ceiling
from orthrus_serving.bench.cli.command import command
from orthrus_serving.bench.cli.compare import compare
from orthrus_serving.bench.cli.iter_retgen import RetGenOptions, iter_retgen
from orthrus_serving.bench.cli.run import run
from orthrus_serving.bench.cli.run_options import RunOptions
from orthrus_serving.bench.cli.suite import suite
from orthrus_serving.bench.cli.suite_options import SuiteOptions

_HELP = "Mixed embedding and generation load on OpenAI-compatible servers, measured for each task."
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

app = typer.Typer(
    name="orthrus bench",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(command(RunOptions, run))
app.command()(compare)
app.command()(ceiling)
app.command()(command(SuiteOptions, suite))
app.command()(command(AgreementOptions, agreement))
app.command()(command(RetGenOptions, iter_retgen))


def bench(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code of the process."""
    for ending in _ENDING:
        if signal.getsignal(ending) is not signal.SIG_IGN:  # as nohup leaves SIGHUP
            signal.signal(ending, _end)
    try:
        app(list(arguments), prog_name="orthrus bench")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


def _end(number: int, _: FrameType | None) -> None:
    """Engines and servers that a command has started end with it; that takes a while, in which
    another signal must not stop it."""
    for ending in _ENDING:
        signal.signal(ending, signal.SIG_IGN)
    sys.exit(128 + number)
