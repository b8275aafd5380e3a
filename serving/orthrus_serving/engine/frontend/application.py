"""vLLM's OpenAI application over our engine client."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from vllm.entrypoints.launchers.api_server.app_state import init_app_state
from vllm.entrypoints.launchers.app import build_app

from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace
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
    engine: OrthrusEngineClient, arguments: Namespace, space: EmbeddingSpace, listener: object
) -> AsyncIterator[FastAPI]:
    """The application, inside its lifespan; `listener` is a uvicorn server.

    vLLM's handlers set `listener.should_exit` when they meet a dead engine.
    """
    tasks = await engine.get_supported_tasks()
    app = build_app(arguments, tasks, engine.model_config)
    await init_app_state(engine, app.state, arguments, tasks)
    app.state.server = listener
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
        space=space,
        queue=queue,
    )
    async with app.router.lifespan_context(app):
        yield app
