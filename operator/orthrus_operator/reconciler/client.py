"""Generic calls to the API server: dicts in, dicts out, so that no typed model loses a field."""

import json
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp_retry import ExponentialRetry
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import load_incluster_config, load_kube_config

from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.reconciler.operator_metrics import OperatorMetrics
from orthrus_operator.reconciler.paths import resource_of

FIELD_MANAGER = "orthrus-operator"
_TIMEOUT_SECONDS = 15
_READ_TRIES = 3
_PAGE = 250


Objects = list[KubernetesObject]

_JSON = "application/json"
_VERBS = {
    "get": ("GET", _JSON),
    "list": ("GET", _JSON),
    "create": ("POST", _JSON),
    "update": ("PUT", _JSON),
    "patch": ("PATCH", "application/merge-patch+json"),
    "apply": ("PATCH", "application/apply-patch+yaml"),
    "delete": ("DELETE", _JSON),
}
"""HTTP method and content type."""


def in_pod() -> bool:
    """Whether a pod's service account says which cluster, and as whom; KUBECONFIG goes first."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and not os.environ.get("KUBECONFIG")


class ApiError(Exception):
    """The API server refused a call."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        """HTTP status."""
        self.reason = reason
        """metav1.Status reason, e.g. NotFound; may be empty."""
        self.message = message


class Api:
    """The few verbs that the operator needs. All raise ApiError or aiohttp.ClientError."""

    def __init__(self, client: ApiClient, metrics: OperatorMetrics) -> None:
        self._client = client
        self._metrics = metrics

    @classmethod
    async def connect(cls, metrics: OperatorMetrics | None = None) -> "Api":
        """Uses the pod's service account in a cluster, else KUBECONFIG or ~/.kube/config; counts
        its requests in `metrics`.

        Raises kubernetes.aio.config.ConfigException when there is neither.
        """
        configuration = Configuration()
        if in_pod():
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
        else:
            # Named here, since the library reads the variable when it is imported.
            kubeconfig = os.environ.get("KUBECONFIG")
            await load_kube_config(kubeconfig, client_configuration=configuration)  # type: ignore[no-untyped-call]
        # Else aiohttp has a thread look for the environment's proxy and for .netrc in each request.
        configuration.proxy = configuration.proxy or _proxy(configuration.host)
        configuration.client_session_kwargs = {"trust_env": False}
        # One look reads a dozen collections, and one that fails spoils it: what the server fails
        # to do is tried again at once. The library leaves out POST and PATCH.
        configuration.retries = ExponentialRetry(attempts=_READ_TRIES, exceptions=set())
        return cls(ApiClient(configuration), metrics or OperatorMetrics())

    async def close(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def get(self, path: str) -> KubernetesObject | None:
        """The object at `path`; None when there is none."""
        try:
            return await self._call("get", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    async def text(self, path: str) -> str:
        """What a proxied server answers at `path`."""
        return (await self._send("get", path)).decode()

    async def list(self, path: str, label_selector: str) -> Objects:
        """The objects of a collection that match."""
        answer = await self._call("list", path, query={"labelSelector": label_selector})
        items: Objects = answer["items"]
        return items

    async def pages(self, path: str, label_selector: str = "") -> AsyncIterator[Objects]:
        """The objects of a large collection, some at a time."""
        query = {"labelSelector": label_selector, "limit": str(_PAGE)}
        while True:
            answer = await self._call("list", path, query)
            yield answer["items"]
            following = answer["metadata"].get("continue")
            if not following:
                return
            query["continue"] = following

    async def apply(
        self, path: str, body: KubernetesObject, *, trial: bool = False
    ) -> KubernetesObject:
        """Server-side apply, taking over conflicting fields; the object as it is stored then.

        A trial stores nothing.

        Never create children by other means: a POST by the same manager owns its fields for ever.
        """
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        if trial:
            query["dryRun"] = "All"
        return await self._call("apply", path, query, body)

    async def create(self, path: str, body: KubernetesObject) -> None:
        """Adds `body` to the collection at `path`; only for what nobody applies later."""
        await self._call("create", path, body=body)

    async def replace(self, path: str, body: KubernetesObject) -> None:
        """Replaces the object at `path`; a conflict when its resourceVersion is not `body`'s."""
        await self._call("update", path, body=body)

    async def merge(self, path: str, body: KubernetesObject) -> bool:
        """Merges `body` into the object at `path`; False when there is none."""
        try:
            await self._call("patch", path, body=body)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    async def delete(self, path: str, uid: str) -> None:
        """Deletes exactly the object `uid`; nothing happens when it's gone or another one."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
            "propagationPolicy": "Background",
        }
        try:
            await self._call("delete", path, body=options)
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    async def _call(
        self,
        verb: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: KubernetesObject | None = None,
    ) -> KubernetesObject:
        return _decode(await self._send(verb, path, query, body))

    async def _send(
        self,
        verb: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: KubernetesObject | None = None,
    ) -> bytes:
        method, content_type = _VERBS[verb]
        request = await self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json", "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        code = "error"
        try:
            response = await self._client.call_api(*request, _request_timeout=_TIMEOUT_SECONDS)
            data: bytes = await response.read()  # type: ignore[no-untyped-call]
            code = str(response.status)
        except TimeoutError as error:
            # Mostly a slow admission webhook: of one object, and no reason to give up the others.
            message = f"no answer within {_TIMEOUT_SECONDS} s"
            raise ApiError(504, "Timeout", message) from error
        finally:
            self._metrics.requested(verb, resource_of(path), code)
        if response.status >= 300:
            answer = _decode(data)
            message = str(answer.get("message", response.reason))
            raise ApiError(response.status, str(answer.get("reason", "")), message)
        return data


def _proxy(url: str) -> str | None:
    """What the environment says of proxies."""
    address = urlsplit(url)
    if address.hostname is None or proxy_bypass(address.hostname):
        return None
    return getproxies().get(address.scheme)


def _decode(data: bytes) -> KubernetesObject:
    """What stands in front of an API server may answer with something else than JSON."""
    try:
        answer: Any = json.loads(data)
    except ValueError:
        return {"message": data[:200].decode(errors="replace")}
    return answer if isinstance(answer, dict) else {"message": str(answer)[:200]}
