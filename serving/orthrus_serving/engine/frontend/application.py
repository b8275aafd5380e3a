"""vLLM's OpenAI application over our engine client."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from vllm.entrypoints.launchers.api_server.app_state import init_app_state
from vllm.entrypoints.launchers.app import build_app

from orthrus_serving.engine.frontend.adapters.model_names import (
    AdapterNotLoadedError,
    answer_not_loaded,
    check_names,
    hold_adapters,
)
from orthrus_serving.engine.frontend.adapters.replica_adapters import ReplicaAdapters
from orthrus_serving.engine.frontend.embeddings import OrthrusServingEmbedding
from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient
from orthrus_serving.engine.frontend.generation import (
    answer_with_name_asked_for,
    guard_chat,
    guard_completions,
)
from orthrus_serving.engine.queued_tokens import QueuedTokens


@asynccontextmanager
async def application(
    engine: OrthrusEngineClient, arguments: Namespace, adapters: ReplicaAdapters, listener: object
) -> AsyncIterator[FastAPI]:
    """The application, inside its lifespan; `listener` is a uvicorn server.

    vLLM's handlers set `listener.should_exit` when they meet a dead engine.
    """
    tasks = await engine.get_supported_tasks()
    app = build_app(arguments, tasks, engine.model_config)
    await init_app_state(engine, app.state, arguments, tasks)
    app.state.server = listener
    app.state.openai_serving_models.lora_requests = adapters.registry.requests
    if admin_router := adapters.admin_router():
        app.include_router(admin_router)
    app.exception_handler(AdapterNotLoadedError)(answer_not_loaded)
    app.middleware_stack = None  # built by `build_app` already, without this handler
    for serving in (app.state.openai_serving_chat, app.state.openai_serving_completion):
        check_names(serving, adapters.names.check_generation)
        hold_adapters(serving, adapters.use)
    check_names(app.state.serving_tokenization, adapters.names.check_known)
    queue = QueuedTokens(arguments.max_queued_tokens)
    answer_with_name_asked_for(app.state.openai_serving_models)
    guard_completions(app.state.openai_serving_completion, queue)
    guard_chat(app.state.openai_serving_chat, queue)
    stock = app.state.serving_embedding
    app.state.serving_embedding = OrthrusServingEmbedding(
        engine,
        app.state.openai_serving_models,
        request_logger=stock.request_logger,
        chat_template_config=stock.chat_template_config,
        names=adapters.names,
        use=adapters.use,
        queue=queue,
    )
    async with app.router.lifespan_context(app), adapters.kept():
        yield app
