"""The operator as one coroutine: schema check, queue, watches."""

import asyncio
import logging

import kopf

from orthrus_operator.handlers.settings import OperatorSettings
from orthrus_operator.handlers.watches import kopf_settings, register_handlers
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.installed_schema import check_installed_schema
from orthrus_operator.reconciler.queue import KeyedQueue, QueueSettings
from orthrus_operator.reconciler.reconcile import Reconciler

_SCHEMA_WAIT_SECONDS = 60.0
_SCHEMA_POLL_SECONDS = 2.0

_logger = logging.getLogger(__name__)


class SchemaError(Exception):
    """The installed CRD cannot be used."""


async def operate(settings: OperatorSettings) -> None:
    """Runs until SIGTERM. Raises SchemaError, and whatever ends kopf or the queue."""
    api = await Api.connect()
    try:
        await _await_schema(api)
        reconciler = Reconciler(api, settings.images)
        queue = KeyedQueue(reconciler.reconcile, QueueSettings(resync=settings.resync_seconds))
        async with asyncio.TaskGroup() as group:
            working = group.create_task(queue.run())
            await kopf.operator(
                registry=register_handlers(queue),
                settings=kopf_settings(),
                clusterwide=not settings.namespaces,
                namespaces=settings.namespaces,
                liveness_endpoint=f"http://0.0.0.0:{settings.liveness_port}/healthz",
            )
            working.cancel()
    finally:
        await api.close()


async def _await_schema(api: Api) -> None:
    """kopf would idle for ever if the CRD came later, and an old one would lose every status."""
    deadline = asyncio.get_running_loop().time() + _SCHEMA_WAIT_SECONDS
    while True:
        check = await check_installed_schema(api)
        if check.finding:
            _logger.warning(check.finding)
        if check.usable:
            return
        if asyncio.get_running_loop().time() > deadline:
            raise SchemaError(check.finding)
        await asyncio.sleep(_SCHEMA_POLL_SECONDS)
