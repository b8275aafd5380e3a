"""Which of the namespaces that it was told to serve the operator may serve."""

import asyncio
import logging
from collections.abc import Iterable

import aiohttp

from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import collection_path

_RIGHTS_WITHIN_SECONDS = 10.0
"""Roles that were applied together with the operator may take effect a moment after it starts."""
_RIGHTS_POLL_SECONDS = 1.0
_ANEW_POLL_SECONDS = 60.0

_logger = logging.getLogger(__name__)


async def barred(
    api: Api, namespaces: Iterable[str], within: float = _RIGHTS_WITHIN_SECONDS
) -> tuple[str, ...]:
    """Those in which it may not list OrthrusDeployments, after `within` seconds too.

    A namespace that was deleted takes its Roles with it, and kopf ends at the first watch that is
    forbidden: one that is gone would keep all others from being served.
    """
    deadline = asyncio.get_running_loop().time() + within
    while True:
        found = tuple([each for each in namespaces if await _is_barred(api, each)])
        if not found or asyncio.get_running_loop().time() >= deadline:
            return found
        await asyncio.sleep(_RIGHTS_POLL_SECONDS)


async def first_allowed(
    api: Api, namespaces: Iterable[str], every: float = _ANEW_POLL_SECONDS
) -> str:
    """Waits until one of `namespaces` is no longer barred."""
    waiting = tuple(namespaces)
    while True:
        await asyncio.sleep(every)
        still = await barred(api, waiting, within=0.0)
        for namespace in waiting:
            if namespace not in still:
                return namespace


async def _is_barred(api: Api, namespace: str) -> bool:
    try:
        async for _ in api.pages(collection_path(API_VERSION, KIND, namespace)):
            return False
    except ApiError as error:
        return error.status == 403
    except aiohttp.ClientError as error:
        _logger.warning("namespace %s could not be looked at: %r", namespace, error)
    return False
