"""An adapter that is loaded, replaced and unloaded again and again, with new weights each time."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import httpx
from safetensors.torch import load_file, save_file

_PAUSE_SECONDS = 5.0
_WEIGHTS = "adapter_model.safetensors"


def new_versions(adapter: Path, folder: Path) -> Iterator[Path]:
    """Folders inside `folder`, one after another, each with other weights of the same shapes.

    The same content again would be found where it is, and no server would ever run out of room.
    """
    tensors = load_file(adapter / _WEIGHTS)
    for version in count(1):
        made = folder / f"version-{version}"
        shutil.copytree(adapter, made)
        scale = 1 + 1 / version
        save_file({name: scale * tensor for name, tensor in tensors.items()}, made / _WEIGHTS)
        yield made
        shutil.rmtree(made)


async def load_and_unload(
    http: httpx.AsyncClient, name: str, versions: Iterator[Path], admin_key: str
) -> AsyncIterator[tuple[str, str]]:
    """Kind and status of one change after another, for ever; each must be 200."""
    headers = {"authorization": f"Bearer {admin_key}"}

    async def change(act: str, **body: object) -> tuple[str, str]:
        answer = await http.post(
            f"/v1/{act}_lora_adapter", json={"lora_name": name, **body}, headers=headers
        )
        await asyncio.sleep(_PAUSE_SECONDS)
        return f"adapter {act}", str(answer.status_code)

    while True:
        for replaces in (False, True):
            version = str(next(versions))
            yield await change("load", lora_path=version, task="embed", load_inplace=replaces)
        yield await change("unload")
