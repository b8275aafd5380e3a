from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from vllm.exceptions import VLLMValidationError

from orthrus_serving.engine.frontend.adapters.admin_routes import admin_router
from tests.orthrus_serving.frontend.adapters.adapted_replica import AdaptedReplica


async def test_the_embedding_adapter_cannot_be_loaded_for_another_task(tmp_path: Path) -> None:
    replica = AdaptedReplica(tmp_path)
    app = FastAPI()
    app.include_router(
        admin_router(replica.registry, replica.loader, ["served"], embedding_adapter="e5")
    )
    body = {"lora_name": "e5", "lora_path": "/e5"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://replica"
    ) as http:
        with pytest.raises(VLLMValidationError, match="its task must be embed"):
            await http.post("/v1/load_lora_adapter", json=body)
    assert "e5" not in replica.registry
    replica.store.remove()
