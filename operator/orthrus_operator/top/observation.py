"""One look at all OrthrusDeployments of some namespaces, through the API server."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from orthrus_operator.api.group import API_VERSION, DEPLOYMENT_LABEL, KIND
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.pod import PORT
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import child_path, collection_path
from orthrus_operator.reconciler.replica_address import serves
from orthrus_operator.top.reading import Reading, reading

_AT_ONCE = 16


@dataclass(frozen=True)
class Observation:
    """Objects as the API server has them, and what the replicas say."""

    deployments: tuple[KubernetesObject, ...]
    pods: tuple[KubernetesObject, ...]
    readings: Mapping[str, Reading | str]
    """By the uid of each pod that serves; a sentence where it said nothing."""


async def observe(api: Api, namespace: str | None) -> Observation:
    """Looks at one namespace, or at all. Raises ApiError and connection errors."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(pod: KubernetesObject) -> Reading | str:
        async with gate:
            return await _ask(api, pod)

    deployments = await _all(api, collection_path(API_VERSION, KIND, namespace))
    pods = await _all(api, collection_path("v1", "Pod", namespace), DEPLOYMENT_LABEL)
    serving = [pod for pod in pods if serves(pod)]
    answers = await asyncio.gather(*(ask(pod) for pod in serving))
    return Observation(
        tuple(deployments),
        tuple(pods),
        {pod["metadata"]["uid"]: said for pod, said in zip(serving, answers, strict=True)},
    )


async def _all(api: Api, path: str, label_selector: str = "") -> list[KubernetesObject]:
    return [each async for page in api.pages(path, label_selector) for each in page]


async def _ask(api: Api, pod: KubernetesObject) -> Reading | str:
    metadata = pod["metadata"]
    path = child_path("v1", "Pod", metadata["namespace"], metadata["name"])
    try:
        return reading(await api.text(f"{path}:{PORT}/proxy/metrics"))
    except ApiError as error:
        if error.status == 403:
            return "you lack the right to get pods/proxy"
        return f"no answer ({error.status})"
    except (aiohttp.ClientError, ValueError) as error:
        return f"no answer ({error})"
