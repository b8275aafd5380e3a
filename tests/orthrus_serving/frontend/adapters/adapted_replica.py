"""The adapters of a replica, with the real loader; only the engine is left out."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from safetensors.torch import load_file
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.declared_file import AdaptersFile
from orthrus_serving.engine.frontend.adapters.loader import AdapterLoader
from orthrus_serving.engine.frontend.adapters.peft_checkpoint import WEIGHTS
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry
from orthrus_serving.engine.frontend.adapters.store import AdapterStore
from tests.orthrus_serving.frontend.adapters.checkpoints import BASE, LIMITS


class Vocabulary:
    def get_vocab(self) -> dict[str, int]:
        return {"</s>": 2}


class Engine:
    """Holds whatever it is given, and drops the first when it is given too much, as vLLM does."""

    def __init__(self) -> None:
        self.given: list[LoRARequest] = []
        self.held: list[int] = []
        self.dropped: list[int] = []
        self.working: set[int] = set()
        """Numbers of the adapters that its requests use."""
        self.error: Exception | None = None

    async def add_lora(self, lora_request: LoRARequest) -> bool:
        if self.error:
            raise self.error
        assert set(load_file(f"{lora_request.lora_path}/{WEIGHTS}"))
        self.given.append(lora_request)
        if lora_request.lora_int_id not in self.held:
            self.held.append(lora_request.lora_int_id)
        if len(self.held) > (LIMITS.max_cpu_loras or 0):
            self.dropped.append(self.held.pop(0))
        return True

    async def remove_lora(self, lora_id: int) -> bool:
        assert lora_id not in self.working
        held = lora_id in self.held
        if held:
            self.held.remove(lora_id)
        return held

    def adapters_in_work(self) -> set[int]:
        return self.working


class AdaptedReplica:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "adapters.yaml"
        self.registry = AdapterRegistry()
        self.use = AdapterUse()
        self.engine = Engine()
        self.store = AdapterStore(folder)
        self.loader = AdapterLoader(
            base=BASE,
            limits=LIMITS,
            tokenizer=Vocabulary(),  # type: ignore[arg-type]
            store=self.store,
            registry=self.registry,
            use=self.use,
            engine=self.engine,
        )
        self.file = AdaptersFile(self.path, ["served"])
        self.declare()

    def declare(self, *entries: str) -> None:
        self.path.write_text(f"adapters: [{', '.join(entries)}]")

    def entry(self, name: str, options: str = "task: generate", folder: str = "") -> str:
        return f"{{name: {name}, source: {self.folder / (folder or name)}, {options}}}"

    def stored(self) -> set[str]:
        """Names of all folders that the store has on disk."""
        (root,) = self.folder.glob("orthrus-adapters-*")
        return {path.name for path in root.iterdir() if path.is_dir()}

    async def until(self, name: str, state: str, serves: bool) -> str:
        """The message, once the adapter is in this state."""
        async with asyncio.timeout(10):
            while True:
                for status in self.registry.statuses():
                    if (status.name, status.state, status.serves) == (name, state, serves):
                        return status.message
                await asyncio.sleep(0.01)

    async def until_that(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 (any condition, of any part)
                await asyncio.sleep(0.01)
