"""The operator as one coroutine: schema check, queue, watches."""

import asyncio
import logging
import os
import signal
import socket
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import aiohttp
import kopf
from aiohttp import web
from kubernetes.aio.config import ConfigException

from orthrus_operator.handlers.autoscaler_changes import AutoscalerChanges
from orthrus_operator.handlers.http_endpoint import exposition, serving
from orthrus_operator.handlers.settings import OperatorSettings
from orthrus_operator.handlers.watches import kopf_settings, register_handlers
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.installed_schema import SchemaCheck, check_installed_schema
from orthrus_operator.reconciler.lease import Lease
from orthrus_operator.reconciler.operator_metrics import DeploymentCollector, OperatorMetrics
from orthrus_operator.reconciler.queue import KeyedQueue, QueueSettings
from orthrus_operator.reconciler.reconcile import Reconciler
from orthrus_operator.reconciler.replica_poller import ReplicaPoller
from orthrus_operator.reconciler.served_namespaces import barred, first_allowed

_SCHEMA_WAIT_SECONDS = 60.0
_POLL_SECONDS = 2.0

_logger = logging.getLogger(__name__)


class StartError(Exception):
    """There is no cluster, or its CRD cannot be used; the message says what to do."""


class StartAnew(Exception):  # noqa: N818 (nothing is wrong)
    """A namespace may be served that was left out: kopf takes none in while it runs."""


async def operate(settings: OperatorSettings) -> None:
    """Runs until SIGTERM. Raises StartError, and a group of whatever ended kopf, the queue or the
    hold on the Lease, or of StartAnew; CancelledError for a SIGTERM before work began."""
    _end_on_sigterm()
    metrics = OperatorMetrics()
    try:
        api = await Api.connect(metrics)
    except ConfigException as error:
        raise StartError(f"no cluster to connect to; set KUBECONFIG ({error})") from error
    try:
        await _await_answer(api, settings)
        await _await_schema(api)
        async with AsyncExitStack() as held:
            await _show(metrics, settings.metrics_port, held)
            lease = await _acquire_lease(api, settings, held)
            await _work(api, settings, lease, metrics)
    finally:
        await api.close()


async def _show(metrics: OperatorMetrics, port: int, held: AsyncExitStack) -> None:
    """Serves the metrics for as long as `held` is."""
    page = serving(port, "/metrics", lambda: exposition(metrics.registry))
    try:
        await held.enter_async_context(page)
    except OSError as error:
        raise StartError(f"metrics cannot be served; set ORTHRUS_METRICS_PORT ({error})") from error


def _end_on_sigterm() -> None:
    """Until kopf handles the signal: a container's first process ignores it otherwise."""
    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _waiting(what: str, settings: OperatorSettings) -> AbstractAsyncContextManager[None]:
    """Answers probes meanwhile: to wait is no reason to be restarted."""
    text = f"waiting {what}"
    return serving(settings.liveness_port, "/healthz", lambda: web.Response(text=text))


async def _await_answer(api: Api, settings: OperatorSettings) -> None:
    """Returns once the API server works. To end, and be started again, would take longer with
    each time that it does not."""
    told = ""
    async with _waiting("for the API server", settings):
        while problem := await _unanswered(api):
            if problem != told:
                _logger.warning("the API server does not answer: %s", problem)
                told = problem
            await asyncio.sleep(_POLL_SECONDS)


async def _unanswered(api: Api) -> str:
    """What is the matter with the API server; nothing when it works."""
    try:
        await api.text("/version")
    except aiohttp.ClientError as error:
        return repr(error)
    except ApiError as error:
        return str(error) if error.status >= 500 else ""
    return ""


async def _acquire_lease(
    api: Api, settings: OperatorSettings, held: AsyncExitStack
) -> Lease | None:
    """Waits until no other operator works; `held` gives the Lease back."""
    if not settings.lease_namespace:
        return None
    # In a pod always the same: a restarted container goes on at once.
    identity = f"{socket.gethostname()}-{os.getpid()}"
    lease = Lease(api, settings.lease_namespace, identity)
    async with _waiting("for the lease", settings):
        try:
            await lease.acquire()
        except ApiError as error:
            raise StartError(
                f"the operator may not use its lease in {settings.lease_namespace}: give it the"
                f" rights of the chart's role ({error.message})"
            ) from error
    held.push_async_callback(lease.release)
    return lease


async def _work(
    api: Api, settings: OperatorSettings, lease: Lease | None, metrics: OperatorMetrics
) -> None:
    async with asyncio.TaskGroup() as group:
        background = [group.create_task(lease.keep())] if lease else []
        namespaces, left_out = await _served(api, settings)
        if left_out:
            background.append(group.create_task(_start_anew(api, left_out)))
        # The queue needs the reconciler, which needs the poller.
        poller = ReplicaPoller(
            api,
            namespaces,
            lambda key: queue.add(key),  # noqa: PLW0108
            period=settings.poll_seconds,
        )
        changes = AutoscalerChanges()
        autoscalers = AutoscalerNames(api, changes.listed)
        reconciler = Reconciler(api, settings.installation, poller.reports, autoscalers)
        queue = KeyedQueue(
            reconciler.reconcile, QueueSettings(resync=settings.resync_seconds), metrics
        )
        background.append(group.create_task(queue.run()))
        metrics.registry.register(DeploymentCollector(poller))
        background.append(group.create_task(poller.run()))
        await kopf.operator(
            registry=register_handlers(queue, autoscalers, changes, reconciler.is_echo),
            settings=kopf_settings(),
            clusterwide=not namespaces,
            namespaces=namespaces,
            liveness_endpoint=f"http://0.0.0.0:{settings.liveness_port}/healthz",
        )
        for task in background:
            task.cancel()


async def _served(api: Api, settings: OperatorSettings) -> tuple[list[str], tuple[str, ...]]:
    """The namespaces to serve, and those to leave out. Raises StartError when none is left."""
    left_out = await barred(api, settings.namespaces)
    namespaces = [each for each in settings.namespaces if each not in left_out]
    for each in left_out:
        _logger.warning(
            "namespace %s is not served: the operator may not list OrthrusDeployments there. Make"
            " the namespace if it is gone and apply the chart again, or take it out of"
            " watch.namespaces",
            each,
        )
    if left_out and not namespaces:
        raise StartError(
            f"the operator may list OrthrusDeployments in none of {', '.join(left_out)}: give it"
            " the rights of the chart's Roles"
        )
    return namespaces, left_out


async def _start_anew(api: Api, left_out: tuple[str, ...]) -> None:
    raise StartAnew(f"namespace {await first_allowed(api, left_out)} may be served now")


async def _await_schema(api: Api) -> None:
    """kopf would idle for ever if the CRD came later, and an old one would lose every status."""
    deadline = asyncio.get_running_loop().time() + _SCHEMA_WAIT_SECONDS
    while True:
        try:
            check = await check_installed_schema(api)
        except (ApiError, aiohttp.ClientError) as error:
            check = SchemaCheck(False, f"the API server does not answer: {error}")
        if check.finding:
            _logger.warning(check.finding)
        if check.usable:
            return
        if asyncio.get_running_loop().time() > deadline:
            raise StartError(check.finding)
        await asyncio.sleep(_POLL_SECONDS)
