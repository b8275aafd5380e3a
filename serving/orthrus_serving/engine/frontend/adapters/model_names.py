"""What a `model` of a request means: the backbone or one of the adapters."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from vllm.entrypoints.serve.engine.serving import BaseServing
from vllm.entrypoints.serve.engine.typing import AnyRequest
from vllm.exceptions import VLLMNotFoundError, VLLMServerError, VLLMValidationError
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry, LoadedAdapter
from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace

RETRY_SECONDS = 5


class AdapterNotLoadedError(VLLMServerError):
    """An adapter is known and does not serve yet, or failed: 503 with Retry-After."""


async def answer_not_loaded(request: Request, error: Exception) -> JSONResponse:
    """The answer to AdapterNotLoadedError, for FastAPI."""
    body = {
        "message": str(error),
        "type": "ServiceUnavailableError",
        "param": "model",
        "code": 503,
    }
    return JSONResponse({"error": body}, 503, {"retry-after": str(RETRY_SECONDS)})


@dataclass(frozen=True)
class EmbeddingTarget:
    """Who embeds, and how."""

    space: EmbeddingSpace
    lora: LoRARequest | None = None
    end_token: int | None = None
    instruction: str = ""
    adapter: Adapter | None = None
    """None for the backbone."""


class ModelNames:
    """Resolves names; every refusal is an exception that vLLM's application answers.

    `embedding_adapter`: what the served names themselves mean on /v1/embeddings.
    """

    def __init__(
        self,
        served: Sequence[str],
        registry: AdapterRegistry,
        space: EmbeddingSpace,
        embedding_adapter: str | None = None,
    ) -> None:
        self._served = served
        self._registry = registry
        self._space = space
        self._embedding_adapter = embedding_adapter

    def check_generation(self, name: str | None) -> None:
        """Raises VLLMError when `name` cannot generate."""
        if not self._is_served(name):
            adapter = self._loaded(name).adapter
            if adapter.task != "generate":
                raise VLLMValidationError(
                    f"{name} is an adapter for embeddings: send it to /v1/embeddings",
                    parameter="model",
                )

    def check_known(self, name: str | None) -> None:
        """Raises VLLMError when `name` is no model or adapter that serves."""
        if not self._is_served(name):
            self._loaded(name)

    def embedding(self, name: str | None) -> EmbeddingTarget:
        """Raises VLLMError when `name` cannot embed."""
        if not self._is_served(name):
            return self._adapted(self._loaded(name))
        if self._embedding_adapter is None:
            return EmbeddingTarget(self._space)
        # Never the backbone's vector in its place: it would be of another space.
        return self._adapted(self._loaded(self._embedding_adapter, known=True))

    def embedding_spaces(self) -> dict[str, str]:
        """Identifier of the space by each name that embeds now."""
        spaces = {}
        for name in (*self._served, *self._registry.requests):
            with suppress(VLLMValidationError, AdapterNotLoadedError):
                spaces[name] = self.embedding(name).space.identifier
        return spaces

    def _is_served(self, name: str | None) -> bool:
        return not name or name in self._served

    def _loaded(self, name: str | None, *, known: bool = False) -> LoadedAdapter:
        loaded = self._registry.find(name) if name else None
        if loaded is not None:
            return loaded
        if known or name in self._registry:
            raise AdapterNotLoadedError(f"The adapter {name} is not loaded; /ready says why.")
        names = ", ".join([*self._served, *self._registry.requests])
        raise VLLMNotFoundError(f"The model `{name}` does not exist. Served here: {names}.")

    def _adapted(self, loaded: LoadedAdapter) -> EmbeddingTarget:
        adapter = loaded.adapter
        if adapter.task != "embed":
            raise VLLMValidationError(
                f"{adapter.name} is an adapter for generation: send it to /v1/completions or "
                "/v1/chat/completions",
                parameter="model",
            )
        space = replace(
            self._space,
            adapter=loaded.digest,
            pooling=adapter.pooling or self._space.pooling,
            normalized=adapter.normalize,
            end_token=adapter.end_token or "",
            instruction=adapter.instruction,
        )
        return EmbeddingTarget(
            space, loaded.request, loaded.end_token, adapter.instruction, adapter
        )


def check_names(serving: BaseServing, check: Callable[[str | None], None]) -> None:
    """Ask `check` first whenever this vLLM handler looks at the model of a request.

    vLLM's own check knows adapters by name only: neither their task nor those still loading.
    """
    stock = serving._check_model

    async def check_model(request: AnyRequest) -> object:
        check(request.model)
        return await stock(request)

    serving._check_model = check_model  # type: ignore[method-assign,assignment]


def hold_adapters(serving: BaseServing, use: AdapterUse) -> None:
    """An adapter that this vLLM handler finds by its name stays until the request has ended."""
    stock = serving._maybe_get_adapters

    def maybe_get_adapters(request: AnyRequest, *_: Any, **__: Any) -> LoRARequest | None:
        # Asked as chats ask, vLLM would take for the served name, too, an adapter that is called
        # as a kind of content part is: text, image, ...
        adapter = stock(request)
        use.hold(adapter)
        return adapter

    serving._maybe_get_adapters = maybe_get_adapters  # type: ignore[method-assign,assignment]
