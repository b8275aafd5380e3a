"""All that a replica has for its adapters, in one place."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from fastapi import APIRouter

from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.admin_routes import admin_router
from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules
from orthrus_serving.engine.frontend.adapters.declared_file import DeclaredAdapters
from orthrus_serving.engine.frontend.adapters.loader import AdapterLoader
from orthrus_serving.engine.frontend.adapters.model_names import ModelNames
from orthrus_serving.engine.frontend.adapters.options import AdapterOptions
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry
from orthrus_serving.engine.frontend.adapters.store import AdapterStore
from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace
from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient
from orthrus_serving.engine.models_report import ModelsReport

logger = logging.getLogger(__name__)

TIDY_SECONDS = 1.0


class ReplicaAdapters:
    """Names for requests at once; adapters as they get loaded."""

    def __init__(
        self,
        client: OrthrusEngineClient,
        options: AdapterOptions,
        served_names: Sequence[str],
        space: EmbeddingSpace,
        base: BaseModules | None,
    ) -> None:
        """`base`: what adapters are checked against; None when LoRA is off."""
        self._options = options
        self.admin_keys = options.admin_keys
        self._served_names = served_names
        self.registry = AdapterRegistry()
        self.use = AdapterUse()
        self.names = ModelNames(served_names, self.registry, space, options.embedding_adapter)
        self._store: AdapterStore | None = None
        self._loader: AdapterLoader | None = None
        limits = client.vllm_config.lora_config
        if limits is None or base is None:
            return
        self._store = AdapterStore(Path(tempfile.gettempdir()))
        self._loader = AdapterLoader(
            base=base,
            limits=limits,
            tokenizer=client.get_tokenizer(),
            store=self._store,
            registry=self.registry,
            use=self.use,
            engine=client,
        )
        for adapter in options.declared:
            self.registry.expect(adapter, declared=True)

    def admin_router(self) -> APIRouter | None:
        """Routes that load and unload adapters; None when there are no admin keys."""
        if self._loader is None or not self._options.admin_keys:
            return None
        return admin_router(
            self.registry, self._loader, self._served_names, self._options.embedding_adapter
        )

    @contextlib.asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Until the block ends: loads the declared ones, follows the file, removes the unused."""
        if self._loader is None:
            yield
            return
        tasks = [asyncio.create_task(_keep_tidy(self._loader))]
        if self._options.file is not None:
            declared = DeclaredAdapters(self._options.file, self.registry, self._loader)
            tasks.append(asyncio.create_task(declared.run()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    def report(self) -> ModelsReport:
        file = self._options.file
        return ModelsReport(
            tuple(self.registry.statuses()),
            file is None or file.valid,
            self.names.embedding_spaces(),
        )

    def close(self) -> None:
        """Call it when the engine is gone."""
        if self._store is not None:
            self._store.remove()


async def _keep_tidy(loader: AdapterLoader) -> None:
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        try:
            await loader.remove_unused()
        except Exception:
            logger.exception("adapters that nobody needs stay for now")
