"""Starts an engine from a command line."""

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import vllm
from fastapi import FastAPI
from vllm import envs
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.logger import configure_logging_from_args
from vllm.platforms import current_platform
from vllm.usage.usage_lib import UsageContext
from vllm.v1.executor import Executor

from orthrus_serving.engine.frontend import root_cause
from orthrus_serving.engine.frontend.adapters.options import adapter_options
from orthrus_serving.engine.frontend.adapters.replica_adapters import ReplicaAdapters
from orthrus_serving.engine.frontend.application import application
from orthrus_serving.engine.frontend.arguments import api_keys, parse
from orthrus_serving.engine.frontend.chat_template import chat_template
from orthrus_serving.engine.frontend.checkpoint import Location, find_checkpoint
from orthrus_serving.engine.frontend.diagnosis import diagnose
from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace, checkpoint_digest
from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient, pull_snapshot
from orthrus_serving.engine.frontend.kv_cache_space import cpu_kv_cache_bytes
from orthrus_serving.engine.frontend.model_checks import (
    adaptable_layers,
    check_architecture,
    check_local_model,
)
from orthrus_serving.engine.frontend.orthrus_flags import engine_settings
from orthrus_serving.engine.models_report import ModelsReport
from orthrus_serving.engine.start_error import Reason, StartError
from orthrus_serving.scheduling.snapshot import Snapshot

VLLM_SERIES = "0.32."
SCHEDULER = "orthrus_serving.engine.scheduler.make_scheduler"
CPU_WORKER = "orthrus_serving.engine.worker.OrthrusCPUWorker"
GPU_WORKER = "orthrus_serving.engine.worker.OrthrusGPUWorker"

_CHANGES_VECTORS = (
    "tokenizer_mode",
    "chat_template_content_format",
    "quantization",
    "kv_cache_dtype",
)
"""Flags that give one checkpoint, in one dtype, other vectors."""

_REFUSED_VARIABLES = {
    "VLLM_SERVER_DEV_MODE": "its routes can pause or empty the engine; unset it",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "its routes check neither adapter nor key; unset it, and "
    "set an admin key (docs/adapters.md)",
    "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION": "two clients that send the same X-Request-Id would "
    "end each other's requests; unset it",
}


class RunningEngine:
    """An engine process with its model loaded, and this process's end of it."""

    def __init__(
        self, client: OrthrusEngineClient, arguments: Namespace, adapters: ReplicaAdapters
    ) -> None:
        self._client = client
        self._arguments = arguments
        self._adapters = adapters
        self.api_keys = api_keys(arguments)
        self.model_names: list[str] = arguments.served_model_name or [arguments.model]
        self.admin_keys = list(adapters.admin_keys)
        if self.api_keys:
            # vLLM's application asks once more, under /v1, and knows no admin keys.
            arguments.api_key = [*self.api_keys, *self.admin_keys]

    @property
    def died(self) -> bool:
        return self._client.errored

    async def snapshot(self) -> Snapshot:
        return await pull_snapshot(self._client)

    def application(self, listener: object) -> AbstractAsyncContextManager[FastAPI]:
        return application(self._client, self._arguments, self._adapters, listener)

    def models(self) -> ModelsReport:
        return self._adapters.report()

    def shutdown(self) -> None:
        self._client.shutdown(timeout=0)
        self._adapters.close()


def start(command_line: Sequence[str]) -> RunningEngine:
    """Loads the model in a new process: minutes, blocking. Raises StartError."""
    with tempfile.TemporaryDirectory(prefix="orthrus-") as folder:
        noted = Path(folder) / "root-cause"
        try:
            return _start(command_line, noted)
        except Exception as error:
            raise diagnose(error, noted.read_text() if noted.exists() else None) from error


def _start(command_line: Sequence[str], noted: Path) -> RunningEngine:
    _check_environment()
    arguments = parse(command_line)
    configure_logging_from_args(arguments)
    api_keys(arguments)  # so that a bad one fails before minutes of loading
    check_local_model(arguments.model)
    options = adapter_options(arguments)
    _configure(arguments)
    config = AsyncEngineArgs.from_cli_args(arguments).create_engine_config(
        usage_context=UsageContext.OPENAI_API_SERVER
    )
    model = config.model_config
    check_architecture(model)
    base = adaptable_layers(model) if config.lora_config else None
    checkpoint = find_checkpoint(
        Location(model.model, model.revision),
        Location(model.tokenizer, model.tokenizer_revision),
        config.load_config,
    )
    digest = checkpoint_digest(checkpoint)
    root_cause.install(noted)
    client = OrthrusEngineClient(
        config,
        Executor.get_class(config),
        log_stats=not arguments.disable_log_stats,
        log_requests=arguments.enable_log_requests,
        usage_context=UsageContext.OPENAI_API_SERVER,
    )
    try:
        space = EmbeddingSpace(
            checkpoint=digest,
            dtype=str(model.dtype),
            pooling=arguments.embedding_pooling,
            normalized=arguments.embedding_normalize,
            flags=tuple(f"{name}={getattr(arguments, name)}" for name in _CHANGES_VECTORS),
            chat_template=chat_template(arguments.chat_template, client.get_tokenizer(), model),
        )
        names = arguments.served_model_name or [arguments.model]
        adapters = ReplicaAdapters(client, options, names, space, base)
    except Exception:
        client.shutdown(timeout=0)
        raise
    return RunningEngine(client, arguments, adapters)


def _check_environment() -> None:
    if not vllm.__version__.startswith(VLLM_SERIES):
        raise StartError(
            Reason.START_FAILED,
            f"vLLM {vllm.__version__} is installed, and Orthrus extends {VLLM_SERIES}x only",
        )
    for name, why in _REFUSED_VARIABLES.items():
        if getattr(envs, name):
            raise StartError(Reason.INVALID_ARGUMENTS, f"{name} is set: {why}")


def _configure(arguments: Namespace) -> None:
    """Fills in what the user may not choose. Raises StartError for our own flags."""
    try:
        settings = engine_settings(arguments)
    except ValueError as error:
        raise StartError(Reason.INVALID_ARGUMENTS, str(error)) from error
    is_cpu = current_platform.is_cpu()
    arguments.runner = "generate"
    arguments.scheduler_cls = SCHEDULER
    arguments.worker_cls = CPU_WORKER if is_cpu else GPU_WORKER
    arguments.additional_config = settings.to_additional_config()
    arguments.enable_chunked_prefill = True
    if is_cpu:
        arguments.kv_cache_memory_bytes = cpu_kv_cache_bytes(arguments.kv_cache_memory_bytes)
