"""Brings one adapter from its source into the engine."""

import asyncio
from collections.abc import Awaitable, Callable

from vllm.config import LoRAConfig
from vllm.lora.request import LoRARequest
from vllm.tokenizers import TokenizerLike

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.frontend.adapters.peft_checkpoint import read_checkpoint
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry, LoadedAdapter
from orthrus_serving.engine.frontend.adapters.source import fetch
from orthrus_serving.engine.frontend.adapters.store import AdapterStore, StoredAdapter
from orthrus_serving.pooling import HEADS, BufferedHead


class AdapterLoader:
    """Fetches, checks and stores in threads of this process; the engine only reads local files.

    `add` gives a request to the engine, which loads it between two steps.
    """

    def __init__(
        self,
        *,
        base: BaseModules,
        limits: LoRAConfig,
        tokenizer: TokenizerLike,
        store: AdapterStore,
        registry: AdapterRegistry,
        add: Callable[[LoRARequest], Awaitable[bool]],
    ) -> None:
        self._base = base
        self._limits = limits
        self._tokenizer = tokenizer
        self._store = store
        self._registry = registry
        self._add = add
        self._one_at_a_time = asyncio.Lock()

    async def load(self, adapter: Adapter, *, declared: bool) -> None:
        """From its return on the adapter serves. Raises AdapterError with one sentence."""
        end_token = self._end_token(adapter)
        _prepare_head(adapter)
        if adapter.largest_size > self._base.hidden_size:
            raise AdapterError(
                f"its dimensions go up to {adapter.largest_size}, and this model's vectors have "
                f"{self._base.hidden_size} numbers"
            )
        async with self._one_at_a_time:
            self._check_room(adapter.name)
            stored = await asyncio.to_thread(self._bring, adapter)
            request = LoRARequest(adapter.name, stored.number, str(stored.folder))
            try:
                await self._add(request)
            except Exception as error:  # whatever vLLM's worker raised, in its own words
                said = (str(error).strip().splitlines() or [repr(error)])[-1]
                raise AdapterError(f"vLLM cannot load it: {said}") from error
            if not declared and self._registry.is_declared(adapter.name):
                raise AdapterError(f"{adapter.name} has just been declared in the adapters file")
            loaded = LoadedAdapter(adapter, request, stored.digest, end_token)
            self._registry.set_loaded(loaded, declared=declared)

    def _check_room(self, name: str) -> None:
        """vLLM would drop another one, and read it from disk again in the middle of a step."""
        serving, most = self._registry.requests, self._limits.max_cpu_loras
        if most is not None and name not in serving and len(serving) >= most:
            raise AdapterError(
                f"{most} adapters are loaded, which is all that --max-cpu-loras allows: remove "
                "one, or start the server with more"
            )

    def _bring(self, adapter: Adapter) -> StoredAdapter:
        folder = fetch(adapter.source)
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
