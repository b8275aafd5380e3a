"""An adapter that is loaded, replaced and unloaded again and again."""

import asyncio
from collections.abc import AsyncIterator
from itertools import cycle
from pathlib import Path

import httpx

_PAUSE_SECONDS = 5.0


async def load_and_unload(
    http: httpx.AsyncClient, name: str, versions: tuple[Path, Path], admin_key: str
) -> AsyncIterator[tuple[str, str]]:
    """Kind and status of one change after another, for ever; each must be 200."""
    headers = {"authorization": f"Bearer {admin_key}"}
    first, second = versions
    load = {"lora_name": name, "task": "embed"}
    changes = [
        ("load", {**load, "lora_path": str(first)}),
        ("load", {**load, "lora_path": str(second), "load_inplace": True}),
        ("unload", {"lora_name": name}),
    ]
    for act, body in cycle(changes):
        answer = await http.post(f"/v1/{act}_lora_adapter", json=body, headers=headers)
        yield f"adapter {act}", str(answer.status_code)
        await asyncio.sleep(_PAUSE_SECONDS)
