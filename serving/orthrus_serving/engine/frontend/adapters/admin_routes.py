"""Loading and unloading adapters over HTTP; the outer application asks for the admin key."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import PlainTextResponse
from vllm.exceptions import GracefulHTTPError, VLLMNotFoundError, VLLMValidationError

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declaration import parse_adapter, require_embeds
from orthrus_serving.engine.frontend.adapters.loader import AdapterLoader
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry

JsonObject = Annotated[dict[str, Any], Body()]


def admin_router(
    registry: AdapterRegistry,
    loader: AdapterLoader,
    served_names: Sequence[str],
    embedding_adapter: str | None,
) -> APIRouter:
    """vLLM's two routes, with its field names and those of the adapters file besides."""
    router = APIRouter()

    @router.post("/v1/load_lora_adapter")
    async def load(body: JsonObject) -> PlainTextResponse:
        entry: dict[str, Any] = {"task": "generate"} | body
        name = _take_name(entry)
        _refuse_declared(registry, name)
        replace = entry.pop("load_inplace", False) is True
        if name in served_names:
            raise VLLMValidationError(f"{name} is the name of the served model")
        entry["source"] = entry.pop("lora_path", None)
        try:
            adapter = parse_adapter(entry | {"name": name}, name)
            require_embeds(adapter, embedding_adapter)
            await loader.load(adapter, declared=False, replace=replace)
        except AdapterError as error:
            raise VLLMValidationError(str(error)) from error
        return PlainTextResponse(f"Success: LoRA adapter '{name}' added successfully.")

    @router.post("/v1/unload_lora_adapter")
    async def unload(body: JsonObject) -> PlainTextResponse:
        name = _take_name(body)
        _refuse_declared(registry, name)
        if name not in registry:
            raise VLLMNotFoundError(f"no adapter {name} is loaded")
        registry.remove(name)
        return PlainTextResponse(f"Success: LoRA adapter '{name}' removed successfully.")

    return router


def _take_name(body: dict[str, Any]) -> str:
    name = body.pop("lora_name", None)
    if not isinstance(name, str):
        raise VLLMValidationError("the field lora_name must be a string", parameter="lora_name")
    return name


def _refuse_declared(registry: AdapterRegistry, name: str) -> None:
    if registry.is_declared(name):
        raise GracefulHTTPError(
            f"{name} is declared in the adapters file: change it there", HTTPStatus.CONFLICT
        )
