"""The live view, driven as by a terminal."""

import asyncio
from collections.abc import Sequence

from textual.widgets import DataTable, Static

from orthrus_operator.reconciler.client import ApiError
from orthrus_operator.top.rows import DeploymentRow, rows
from orthrus_operator.top.screen import Top
from tests.orthrus_operator.top.making import exposition, observation


class Looks:
    """Shows one look after the other when told to."""

    def __init__(self) -> None:
        self._next: asyncio.Queue[Sequence[DeploymentRow] | Exception] = asyncio.Queue()

    def show(self, look: Sequence[DeploymentRow] | Exception) -> None:
        self._next.put_nowait(look)

    async def __call__(self) -> Sequence[DeploymentRow]:
        look = await self._next.get()
        if isinstance(look, Exception):
            raise look
        return look


def names(app: Top) -> list[str]:
    table = app.query_one(DataTable)
    return [str(table.get_row_at(row)[0]).strip() for row in range(table.row_count)]


async def test_rows_come_change_and_fold() -> None:
    looks = Looks()
    app = Top(looks, "models")
    async with app.run_test(size=(160, 30)) as pilot:
        before = observation(a=exposition(), b=exposition())
        looks.show(rows(before, before))
        await pilot.pause(0.2)
        assert names(app) == ["models/chat", "chat-a", "chat-b"]
        assert "2 replicas" in str(app.query_one("#said", Static).render())
        await pilot.press("r")
        assert names(app) == ["models/chat"]
        await pilot.press("r")
        looks.show(rows(before, observation(a=exposition(), b="no answer (503)")))
        await pilot.pause(0.2)
        assert names(app) == ["models/chat", "chat-a", "chat-b"]
        assert "chat-b: no answer (503)" in str(app.query_one("#said", Static).render())
        await pilot.press("q")


async def test_a_failing_api_server_is_told_and_what_was_seen_stays() -> None:
    looks = Looks()
    app = Top(looks, "models")
    async with app.run_test(size=(160, 30)) as pilot:
        seen = observation(a=exposition())
        looks.show(rows(seen, seen))
        looks.show(ApiError(503, "", "overloaded"))
        await pilot.pause(0.2)
        assert names(app) == ["models/chat", "chat-a"]
        assert "overloaded; trying again" in str(app.query_one("#said", Static).render())
