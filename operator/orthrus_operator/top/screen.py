"""The live view."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

import aiohttp
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Header, Static

from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.top.columns import COLUMNS, LEGEND, lines, problems
from orthrus_operator.top.rows import DeploymentRow

_PAUSE_SECONDS = 2.0

Look = Callable[[], Awaitable[Sequence[DeploymentRow]]]


class Top(App[None]):
    """Shows what `look` returns, which takes as long as the figures are over; again and again."""

    TITLE = "orthrus top"
    CSS = "DataTable { height: 1fr; } Static { padding: 0 1; color: $text-muted; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("r", "replicas", "Replicas"),
    ]

    def __init__(self, look: Look, where: str) -> None:
        super().__init__()
        self.sub_title = where
        self._look = look
        self._rows: Sequence[DeploymentRow] = ()
        self._shows_replicas = True

    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Static("looking…", id="said")
        yield Static(LEGEND)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(DataTable).add_columns(*COLUMNS)
        self.run_worker(self._follow(), exit_on_error=False)

    def action_replicas(self) -> None:
        """Hides the replicas, or shows them again."""
        self._shows_replicas = not self._shows_replicas
        self._draw()

    async def _follow(self) -> None:
        said = self.query_one("#said", Static)
        while True:
            try:
                self._rows = await self._look()
            except (ApiError, aiohttp.ClientError) as error:
                said.update(f"{error}; trying again")
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            self._draw()
            said.update("\n".join(problems(self._rows)) or _count(self._rows))

    def _draw(self) -> None:
        table = self.query_one(DataTable)
        cursor = table.cursor_row
        table.clear()
        for cells in lines(self._rows, replicas=self._shows_replicas):
            table.add_row(*cells)
        table.move_cursor(row=cursor)


def _count(rows: Sequence[DeploymentRow]) -> str:
    replicas = sum(len(row.replicas) for row in rows)
    return f"{len(rows)} deployments, {replicas} replicas"
