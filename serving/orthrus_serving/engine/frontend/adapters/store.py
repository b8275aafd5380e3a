"""Adapters on local disk under the digest of their content.

vLLM caches an adapter by id, reads its files again after it evicted it, and hashes its path into
the keys of the prefix cache. Under a content address none of the three can mix two versions.
"""

import fcntl
import hashlib
import json
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import torch
from safetensors.torch import save_file

from orthrus_serving.engine.frontend.adapters.peft_checkpoint import (
    CONFIG,
    WEIGHTS,
    PeftCheckpoint,
)

PREFIX = "orthrus-adapters-"


@dataclass(frozen=True)
class StoredAdapter:
    """`number` is vLLM's id of it: never that of another content."""

    folder: Path
    digest: str
    number: int


class AdapterStore:
    """Folders that are whole from the moment they have their name. Safe to use from any thread."""

    def __init__(self, parent: Path) -> None:
        """Makes a folder of this process in `parent`, and removes those of dead processes."""
        _remove_abandoned(parent)
        unlocked = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=parent))
        self._folder_lock = FolderLock(unlocked)
        # Not before: under this name another process would find it unlocked, and remove it.
        self._root = unlocked.rename(parent / unlocked.name.removeprefix("."))
        self._numbers = count(1)
        self._stored: dict[str, StoredAdapter] = {}
        self._lock = threading.Lock()
        """For the two above; nobody writes or deletes content while holding it."""

    def put(self, checkpoint: PeftCheckpoint) -> StoredAdapter:
        """Writes it, unless the same content is there already. Blocks.

        Raises what writing raises, and leaves nothing behind then.
        """
        digest = _digest(checkpoint)
        if stored := self._find(digest):
            return stored
        with tempfile.TemporaryDirectory(dir=self._root, ignore_cleanup_errors=True) as scratch:
            unfinished = Path(scratch) / digest
            unfinished.mkdir()
            (unfinished / CONFIG).write_text(json.dumps(checkpoint.config))
            save_file(dict(checkpoint.tensors), unfinished / WEIGHTS)
            with self._lock:
                if digest not in self._stored:
                    folder = unfinished.rename(self._root / digest)
                    self._stored[digest] = StoredAdapter(folder, digest, next(self._numbers))
                return self._stored[digest]

    def all(self) -> Sequence[StoredAdapter]:
        with self._lock:
            return list(self._stored.values())

    def discard(self, stored: StoredAdapter) -> None:
        """Deletes one that no engine knows any more. Blocks."""
        with self._lock:
            del self._stored[stored.digest]
            nameless = stored.folder.rename(self._root / f"discarded-{stored.number}")
        shutil.rmtree(nameless)

    def _find(self, digest: str) -> StoredAdapter | None:
        with self._lock:
            return self._stored.get(digest)

    def remove(self) -> None:
        """Call it when no engine is left."""
        shutil.rmtree(self._root, ignore_errors=True)
        self._folder_lock.close()


def _digest(checkpoint: PeftCheckpoint) -> str:
    """Hexadecimal SHA-256 of configuration and weights."""
    digest = hashlib.sha256(json.dumps(checkpoint.config, sort_keys=True).encode())
    for name, tensor in sorted(checkpoint.tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.view(torch.uint8).numpy().data)
    return digest.hexdigest()


class FolderLock:
    """Marks a folder as in use until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / ".lock").open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        self._file.close()


def _remove_abandoned(parent: Path) -> None:
    """A killed process leaves its folder, and a pod's scratch volume outlives its containers."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError), closing(FolderLock(folder)):
            shutil.rmtree(folder, ignore_errors=True)
