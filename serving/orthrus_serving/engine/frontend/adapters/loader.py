"""Brings adapters from their sources into the engine, and takes out those that nobody needs."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from vllm.config import LoRAConfig
from vllm.lora.request import LoRARequest
from vllm.tokenizers import TokenizerLike

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError, first_line
from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.frontend.adapters.peft_checkpoint import read_checkpoint
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry, LoadedAdapter
from orthrus_serving.engine.frontend.adapters.source import fetch, is_on_hub
from orthrus_serving.engine.frontend.adapters.store import AdapterStore, StoredAdapter
from orthrus_serving.pooling import HEADS, BufferedHead

logger = logging.getLogger(__name__)

REPLACEMENTS = 1
"""Versions beyond `--max-cpu-loras` that vLLM has room for: one that replaces another is loaded
while the other still serves."""
DOWNLOADS = 4
"""At the same time. They have threads of their own: a hub that hangs holds up nothing else."""


class EngineWithAdapters(Protocol):
    """The part of the engine client that is used here."""

    async def add_lora(self, lora_request: LoRARequest) -> bool: ...

    async def remove_lora(self, lora_id: int) -> bool: ...

    def adapters_in_work(self) -> set[int]: ...


class AdapterLoader:
    """Fetches, checks and stores in threads of this process; the engine only reads local files.

    vLLM holds `max_cpu_loras` adapters and drops the one that was used longest ago for another. A
    request for a dropped one would read it from disk within a step, while all others wait. So the
    engine is never given more: every version it holds is in the store, and leaves with its last
    request when its name has gone or has a newer one.
    """

    def __init__(
        self,
        *,
        base: BaseModules,
        limits: LoRAConfig,
        tokenizer: TokenizerLike,
        store: AdapterStore,
        registry: AdapterRegistry,
        use: AdapterUse,
        engine: EngineWithAdapters,
    ) -> None:
        self._base = base
        self._limits = limits
        self._tokenizer = tokenizer
        self._store = store
        self._registry = registry
        self._use = use
        self._engine = engine
        self._downloads = ThreadPoolExecutor(DOWNLOADS, thread_name_prefix="adapter-download")
        self._one_at_a_time = asyncio.Lock()

    async def load(self, adapter: Adapter, *, declared: bool, replace: bool = True) -> None:
        """From its return on the adapter serves.

        `replace`: what serves under its name, if anything does.

        Raises:
            AdapterError: why not, in one sentence.
        """
        try:
            await self._load(adapter, declared=declared, replace=replace)
        except AdapterError:
            raise
        except Exception as error:
            logger.exception("adapter %s", adapter.name)
            said = f"{type(error).__name__}: {first_line(error)}"
            raise AdapterError(f"it cannot be loaded: {said}", may_pass=True) from error

    async def _load(self, adapter: Adapter, *, declared: bool, replace: bool) -> None:
        if not replace:
            self._refuse_to_replace(adapter.name)
        end_token = self._end_token(adapter)
        _prepare_head(adapter)
        if adapter.largest_size > self._base.hidden_size:
            raise AdapterError(
                f"its dimensions go up to {adapter.largest_size}, and this model's vectors have "
                f"{self._base.hidden_size} numbers"
            )
        pool = self._downloads if is_on_hub(adapter.source) else None
        folder = await asyncio.get_running_loop().run_in_executor(pool, fetch, adapter.source)
        async with self._one_at_a_time:
            if not replace:  # once more: another one may have come first
                self._refuse_to_replace(adapter.name)
            self._check_room_for(adapter.name)
            stored = await asyncio.to_thread(self._copy, folder)
            await self._make_room(stored)
            request = LoRARequest(adapter.name, stored.number, str(stored.folder))
            await self._add(request)
            if not declared and self._registry.is_declared(adapter.name):
                raise AdapterError(f"{adapter.name} has just been declared in the adapters file")
            loaded = LoadedAdapter(adapter, request, stored.digest, end_token)
            self._registry.set_loaded(loaded, declared=declared)

    async def remove_unused(self) -> None:
        """Takes out of the engine, and deletes, what no name and no request needs any more."""
        async with self._one_at_a_time:
            await self._remove_unused()

    async def _remove_unused(self, *, but: StoredAdapter | None = None) -> None:
        needed = {request.lora_int_id for request in self._registry.requests.values()}
        needed |= self._use.numbers() | self._engine.adapters_in_work()
        for stored in self._store.all():
            if stored != but and stored.number not in needed:
                await self._engine.remove_lora(stored.number)
                await asyncio.to_thread(self._store.discard, stored)

    def _refuse_to_replace(self, name: str) -> None:
        if name in self._registry:
            raise AdapterError(
                f"the adapter {name} is loaded: set load_inplace to true to replace it"
            )

    def _check_room_for(self, name: str) -> None:
        serving, most = self._registry.requests, self._most - REPLACEMENTS
        if name not in serving and len(serving) >= most:
            raise AdapterError(
                f"{most} adapters are loaded, which is all that --max-cpu-loras allows: remove "
                "one, or start the server with more"
            )

    async def _make_room(self, stored: StoredAdapter) -> None:
        if len(self._store.all()) > self._most:
            await self._remove_unused(but=stored)
        if len(self._store.all()) > self._most:
            raise AdapterError(
                "versions that were replaced still have requests, and --max-cpu-loras leaves no "
                "room for another: try again when they have ended",
                may_pass=True,
            )

    @property
    def _most(self) -> int:
        """Versions that the engine holds at once."""
        return self._limits.max_cpu_loras or self._limits.max_loras

    async def _add(self, request: LoRARequest) -> None:
        try:
            await self._engine.add_lora(request)
        except Exception as error:  # whatever vLLM's worker raised, in its own words
            said = (str(error).strip().splitlines() or [repr(error)])[-1]
            raise AdapterError(f"vLLM cannot load it: {said}") from error

    def _copy(self, folder: Path) -> StoredAdapter:
        return self._store.put(read_checkpoint(folder, self._base, self._limits))

    def _end_token(self, adapter: Adapter) -> int | None:
        if adapter.end_token is None:
            return None
        token = self._tokenizer.get_vocab().get(adapter.end_token)
        if token is None:
            raise AdapterError(f"its endToken {adapter.end_token!r} is not in the vocabulary")
        return token


def _prepare_head(adapter: Adapter) -> None:
    head = HEADS[adapter.pooling] if adapter.pooling else None
    try:
        if isinstance(head, BufferedHead):
            head.prepare()
    except Exception as error:  # whatever another package raises when it is imported
        raise AdapterError(f"its pooling {adapter.pooling} cannot be loaded: {error}") from error
