"""Keeps the replica's adapters what the file says, for as long as it runs."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declaration import (
    Adapter,
    parse_adapters,
    require_embeds,
)
from orthrus_serving.engine.frontend.adapters.loader import AdapterLoader
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
FIRST_ATTEMPTS = (0.0, 2.0, 5.0)
"""Seconds to wait before each; when the last has failed, so has the adapter."""
LATER_ATTEMPTS = 60.0
"""Seconds between attempts after that: what was missing may have come."""


class AdaptersFile:
    """The file is read whole every second and its content compared.

    The kubelet updates a ConfigMap volume by swapping a symbolic link two folders up, which no
    watch on the file itself sees; the content is a few kilobytes.
    """

    def __init__(
        self, path: Path, served_names: Sequence[str], embedding_adapter: str | None = None
    ) -> None:
        self._path = path
        self._served_names = served_names
        self._embedding_adapter = embedding_adapter
        self._content: bytes | None = None
        self.valid = True
        """Whether the newest content was taken."""

    def read(self) -> tuple[Adapter, ...] | None:
        """What it declares; None when nothing changed since the last call. Blocks.

        Raises AdapterError, once for each content, when it cannot be read or taken.
        """
        try:
            content = self._path.read_bytes()
        except OSError as error:
            # A folder that is being swapped: the next look decides, and nothing is lost.
            if self._content is None:
                raise AdapterError(f"{self._path} cannot be read: {error.strerror}") from error
            return None
        if content == self._content:
            return None
        self._content = content
        try:
            adapters = parse_adapters(content.decode(errors="replace"), self._served_names)
            for adapter in adapters:
                require_embeds(adapter, self._embedding_adapter)
        except AdapterError as error:
            self.valid = False
            raise AdapterError(f"{self._path}: {error}") from error
        self.valid = True
        return adapters


class DeclaredAdapters:
    """One task for each adapter that loads, or waits to try again."""

    def __init__(
        self, file: AdaptersFile, registry: AdapterRegistry, loader: AdapterLoader
    ) -> None:
        self._file = file
        self._registry = registry
        self._loader = loader
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Loads what the registry already expects, then follows the file until cancelled."""
        try:
            for adapter in list(self._registry.declared()):
                self._start(adapter)
            while True:
                await asyncio.sleep(POLL_SECONDS)
                try:
                    await self._look()
                except Exception:
                    logger.exception("the adapters stay as they are")
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _look(self) -> None:
        try:
            adapters = await asyncio.to_thread(self._file.read)
        except AdapterError as error:
            logger.error("the adapters stay as they are: %s", error)
            return
        if adapters is not None:
            self._apply(adapters)

    def _apply(self, adapters: Sequence[Adapter]) -> None:
        before = {adapter.name: adapter for adapter in self._registry.declared()}
        after = {adapter.name: adapter for adapter in adapters}
        for name in before.keys() - after.keys():
            self._stop(name)
            self._registry.remove(name)
            logger.info("adapter %s is no longer declared", name)
        for name, adapter in after.items():
            # Not by their values: whoever wrote an entry waits for exactly that one.
            if name not in before or before[name].digest() != adapter.digest():
                self._stop(name)
                self._registry.expect(adapter, declared=True)
                self._start(adapter)

    def _start(self, adapter: Adapter) -> None:
        self._tasks[adapter.name] = asyncio.create_task(self._keep_trying(adapter))

    def _stop(self, name: str) -> None:
        if task := self._tasks.pop(name, None):
            task.cancel()

    async def _keep_trying(self, adapter: Adapter) -> None:
        last = len(FIRST_ATTEMPTS)
        attempt = 0
        while True:
            attempt += 1
            await asyncio.sleep(FIRST_ATTEMPTS[attempt - 1] if attempt <= last else LATER_ATTEMPTS)
            try:
                await self._loader.load(adapter, declared=True)
            except AdapterError as error:
                logger.warning("adapter %s, attempt %d: %s", adapter.name, attempt, error)
                if attempt >= last or not error.may_pass:
                    attempt = last
                    self._registry.set_failed(adapter.name, str(error))
            else:
                logger.info("adapter %s is loaded", adapter.name)
                return
