"""`orthrus top [--once] [-o table|json] [-n NAMESPACE | -A] [--window SECONDS]`."""

import asyncio
import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import aiohttp
import typer
from kubernetes.aio.config import ConfigException
from rich.console import Console
from rich.table import Table

from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.top.columns import COLUMNS, LEGEND, lines, problems
from orthrus_operator.top.observation import Observation, observe
from orthrus_operator.top.present_namespace import present_namespace
from orthrus_operator.top.rows import DeploymentRow, as_json, rows
from orthrus_operator.top.screen import Top

_FAULTS = (ApiError, aiohttp.ClientError, ConfigException)


class Output(StrEnum):
    """How one look is printed."""

    TABLE = "table"
    JSON = "json"


class Watcher:
    """Looks at the replicas of a namespace, or of all, once in a window."""

    def __init__(self, api: Api, namespace: str | None, window: float) -> None:
        self._api = api
        self._namespace = namespace
        self._window = window
        self._before: Observation | None = None

    async def look(self) -> Sequence[DeploymentRow]:
        """What they did in one window. Raises ApiError and connection errors."""
        before = self._before or await observe(self._api, self._namespace)
        await asyncio.sleep(self._window)
        self._before = await observe(self._api, self._namespace)
        return rows(before, self._before)


def top(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    application = typer.Typer(add_completion=False)
    application.command(name="top")(_top)
    try:
        application(list(arguments), prog_name="orthrus top")
    except SystemExit as ended:
        return int(ended.code or 0)
    except _FAULTS as error:
        sys.stderr.write(f"orthrus top: {_explained(error)}\n")
        return 1
    return 0


def _top(
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace", "-n", help="Look at this one; by default the context's, or the pod's."
        ),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="Look at all namespaces.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Print one look and end.")] = False,
    output: Annotated[
        Output, typer.Option("--output", "-o", help="Form of the one look.")
    ] = Output.TABLE,
    window: Annotated[
        float, typer.Option(help="Seconds that the figures are over.", min=1, max=3600)
    ] = 5,
) -> None:
    """Show what OrthrusDeployments and their replicas do: mix, fill, busy, backlog, latency."""
    asyncio.run(_run(namespace, everywhere, once or output is Output.JSON, output, window))


async def _run(
    namespace: str | None, everywhere: bool, once: bool, output: Output, window: float
) -> None:
    api = await Api.connect()
    try:
        place = None if everywhere else namespace or present_namespace()
        watcher = Watcher(api, place, window)
        if not once:
            await Top(watcher.look, place or "all namespaces").run_async()
            return
        found = await watcher.look()
    finally:
        await api.close()
    if output is Output.JSON:
        sys.stdout.write(json.dumps(as_json(found, window), indent=2) + "\n")
    else:
        _print(found, place)


def _print(found: Sequence[DeploymentRow], place: str | None) -> None:
    console = Console(highlight=False)
    if not found:
        console.print(f"No OrthrusDeployment in {place or 'any namespace'}.")
        return
    table = Table(*COLUMNS, box=None, header_style="bold", caption=LEGEND)
    for cells in lines(found):
        table.add_row(*cells)
    console.print(table)
    for problem in problems(found):
        console.print(problem)


def _explained(error: Exception) -> str:
    if isinstance(error, ConfigException):
        return f"no cluster to connect to; set KUBECONFIG ({error})"
    if isinstance(error, ApiError) and error.status == 404:
        return "this cluster has no OrthrusDeployments: install the chart first"
    return str(error)
