"""The OpenAPI schema of what a replica serves: vLLM's, without the routes that are 404 here."""

from typing import Any

from vllm.entrypoints.launchers.app import build_app
from vllm.entrypoints.pooling.embed.api_router import router as embeddings

from orthrus_serving.engine.frontend.arguments import parse
from orthrus_serving.server.routes import ROUTES


def served_schema() -> dict[str, Any]:
    app = build_app(parse(["model"]), ("generate", "embed"))
    app.include_router(embeddings)  # which `build_app` does when it knows the model
    schema: dict[str, Any] = app.openapi()
    schema["paths"] = {
        path: operations for path, operations in schema["paths"].items() if path in ROUTES
    }
    return schema
