"""`orthrus bench ceiling`."""

from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared


def ceiling(
    clients: declared.Clients = 64,
    seconds: Annotated[float, typer.Option(help="For each task.", min=0.5)] = 5.0,
) -> None:
    """Show what the client itself can send, against a local server that answers at once.

    A server that reaches a good part of it is not what a run measures.
    """
    from rich.console import Console
    from rich.table import Table

    from orthrus_serving.bench.ceiling.ceiling import PROMPT_TOKENS
    from orthrus_serving.bench.ceiling.ceiling import ceiling as reach

    title = f"Ceiling of the client, prompts of {PROMPT_TOKENS} token ids"
    table = Table("task", "requests/s", "stream messages/s", title=title)
    for reached in reach(clients, seconds):
        messages = f"{reached.messages_per_second:.0f}" if reached.messages_per_second else "-"
        table.add_row(reached.task.value, f"{reached.requests_per_second:.0f}", messages)
    Console(highlight=False).print(table)
