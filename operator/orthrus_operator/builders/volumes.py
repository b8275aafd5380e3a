"""Volumes of a replica: model, cache, keys, shared memory and scratch space."""

from typing import Any

from orthrus_operator.api.model import Cache, ClaimSource, HostSource, HubSource, ImageSource
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.adapters import ADAPTERS_FILE, adapter_claims

CACHE_FOLDER = "/cache"
API_KEY_FILE = "/etc/orthrus/api-keys/keys"
_DEFAULT_CACHE_SIZE = "100Gi"
_MODEL_VOLUME = "model"
_KEY_VOLUME = "api-keys"
_ADAPTER_VOLUME = "adapters"
_READ_BY_GROUP = 0o440


def model_argument(orthrus: OrthrusDeployment) -> str:
    """What `orthrus serve` is told to serve: a repository, or a folder in the container."""
    source = orthrus.spec.model.location()
    if isinstance(source, HubSource):
        return source.repository
    root = _model_mount(source)
    return f"{root}/{source.path}".rstrip("/") if isinstance(source, ClaimSource) else root


def volumes(orthrus: OrthrusDeployment) -> list[dict[str, Any]]:
    """The pod's volumes; those that the root file system's being read-only makes necessary too."""
    found: list[dict[str, Any]] = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "cache", **_cache(orthrus.spec.model.cache)},
    ]
    source = orthrus.spec.model.location()
    if not isinstance(source, HubSource):
        found.append({"name": _MODEL_VOLUME, **_model(source)})
    if orthrus.spec.adapters:
        found.append({"name": _ADAPTER_VOLUME, "configMap": {"name": orthrus.metadata.name}})
    for number, claim in enumerate(adapter_claims(orthrus)):
        by_claim = {"persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
        found.append({"name": f"{_ADAPTER_VOLUME}-{number}", **by_claim})
    if orthrus.spec.auth:
        key = orthrus.spec.auth.api_key_secret_ref
        secret = {
            "secretName": key.name,
            "items": [{"key": key.key, "path": API_KEY_FILE.rpartition("/")[2]}],
            "defaultMode": _READ_BY_GROUP,
        }
        found.append({"name": _KEY_VOLUME, "secret": secret})
    return found


def volume_mounts(orthrus: OrthrusDeployment) -> list[dict[str, Any]]:
    """Where the replica's container finds them."""
    found: list[dict[str, Any]] = [
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108
        {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108
        {"name": "cache", "mountPath": CACHE_FOLDER},
    ]
    source = orthrus.spec.model.location()
    if not isinstance(source, HubSource):
        found.append({"name": _MODEL_VOLUME, "mountPath": _model_mount(source), "readOnly": True})
    if orthrus.spec.adapters:
        folder = ADAPTERS_FILE.rpartition("/")[0]
        found.append({"name": _ADAPTER_VOLUME, "mountPath": folder, "readOnly": True})
    for number, claim in enumerate(adapter_claims(orthrus)):
        mount = {"mountPath": f"/models/{claim}", "readOnly": True}
        found.append({"name": f"{_ADAPTER_VOLUME}-{number}", **mount})
    if orthrus.spec.auth:
        # The folder, not the file: a file that is mounted alone never changes.
        folder = API_KEY_FILE.rpartition("/")[0]
        found.append({"name": _KEY_VOLUME, "mountPath": folder, "readOnly": True})
    return found


def _model_mount(source: ClaimSource | HostSource | ImageSource) -> str:
    if isinstance(source, ClaimSource):
        return f"/models/{source.claim}"
    return "/models/host" if isinstance(source, HostSource) else "/models/image"


def _model(source: ClaimSource | HostSource | ImageSource) -> dict[str, Any]:
    if isinstance(source, ClaimSource):
        return {"persistentVolumeClaim": {"claimName": source.claim, "readOnly": True}}
    if isinstance(source, HostSource):
        return {"hostPath": {"path": source.path, "type": "Directory"}}
    return {"image": {"reference": source.reference, "pullPolicy": "IfNotPresent"}}


def _cache(cache: Cache | None) -> dict[str, Any]:
    if cache and cache.persistent_volume_claim:
        return {"persistentVolumeClaim": {"claimName": cache.persistent_volume_claim.claim_name}}
    if cache and cache.host_path:
        return {"hostPath": {"path": cache.host_path.path, "type": "Directory"}}
    limit = cache.empty_dir.size_limit if cache and cache.empty_dir else None
    return {"emptyDir": {"sizeLimit": str(limit if limit is not None else _DEFAULT_CACHE_SIZE)}}
