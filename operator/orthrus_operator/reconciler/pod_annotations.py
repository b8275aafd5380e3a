"""Annotating pods, best effort: what goes wrong with one keeps nothing else from being done."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

import aiohttp

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import child_path

_WITHIN_SECONDS = 5.0

_logger = logging.getLogger(__name__)


async def annotate(api: Api, pods: Sequence[tuple[KubernetesObject, Mapping[str, str]]]) -> None:
    """Each pod with its own annotations; those that there is no time for are left out."""
    with suppress(TimeoutError):  # behind a slow webhook
        async with asyncio.timeout(_WITHIN_SECONDS):
            for pod, annotations in pods:
                await _annotate(api, pod["metadata"], annotations)


async def _annotate(api: Api, metadata: KubernetesObject, annotations: Mapping[str, str]) -> None:
    path = child_path("v1", "Pod", metadata["namespace"], metadata["name"])
    # The uid makes it a conflict when another pod has the name by now.
    change = {"uid": metadata["uid"], "annotations": annotations}
    try:
        await api.merge(path, {"metadata": change})
    except (ApiError, aiohttp.ClientError) as error:
        _logger.warning("%s is not annotated with %s: %s", path, ", ".join(annotations), error)
