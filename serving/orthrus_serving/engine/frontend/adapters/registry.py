"""Every adapter of the replica, by name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.models_report import AdapterState, AdapterStatus


@dataclass(frozen=True)
class LoadedAdapter:
    """An adapter in the engine."""

    adapter: Adapter
    request: LoRARequest
    digest: str
    end_token: int | None = None
    """Id of `adapter.end_token`."""


@dataclass
class _Entry:
    adapter: Adapter
    declared: bool
    state: AdapterState = AdapterState.LOADING
    message: str = ""
    loaded: LoadedAdapter | None = None


class AdapterRegistry:
    """What is asked for, and what serves.

    The version that serves goes on until a newer one of its name is loaded: a broken file or
    download takes nothing away.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self.requests: dict[str, LoRARequest] = {}
        """vLLM's view: those that serve, by name."""

    def expect(self, adapter: Adapter, *, declared: bool) -> None:
        """A version is asked for; it counts as loading."""
        entry = self._entries.setdefault(adapter.name, _Entry(adapter, declared))
        entry.adapter = adapter
        entry.declared = declared
        entry.state, entry.message = AdapterState.LOADING, ""

    def set_loaded(self, loaded: LoadedAdapter, *, declared: bool) -> None:
        self.expect(loaded.adapter, declared=declared)
        entry = self._entries[loaded.adapter.name]
        entry.loaded = loaded
        entry.state, entry.message = AdapterState.LOADED, ""
        self.requests[loaded.adapter.name] = loaded.request

    def set_failed(self, name: str, message: str) -> None:
        entry = self._entries[name]
        entry.state, entry.message = AdapterState.FAILED, message

    def remove(self, name: str) -> None:
        """New requests no longer find it; running ones keep their version."""
        self._entries.pop(name, None)
        self.requests.pop(name, None)

    def find(self, name: str) -> LoadedAdapter | None:
        """The version that serves; None when the name is unknown or has none yet."""
        entry = self._entries.get(name)
        return entry.loaded if entry else None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def is_declared(self, name: str) -> bool:
        entry = self._entries.get(name)
        return entry is not None and entry.declared

    def declared(self) -> Iterator[Adapter]:
        return (entry.adapter for entry in self._entries.values() if entry.declared)

    def statuses(self) -> Sequence[AdapterStatus]:
        """Safe to call from any thread."""
        return [
            AdapterStatus(
                name=name,
                declaration=entry.adapter.digest(),
                state=entry.state,
                serves=entry.loaded is not None,
                message=entry.message,
            )
            for name, entry in list(self._entries.items())
        ]
