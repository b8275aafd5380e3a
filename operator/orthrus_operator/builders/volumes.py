"""Volumes of a replica: model, cache, shared memory and scratch space."""

from typing import Any

from orthrus_operator.api.model import Cache, ClaimSource
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment

CACHE_FOLDER = "/cache"
_DEFAULT_CACHE_SIZE = "100Gi"


def model_folder(source: ClaimSource) -> str:
    """Path of the model inside the container."""
    return f"/models/{source.claim}/{source.path}".rstrip("/")


def volumes(orthrus: OrthrusDeployment) -> list[dict[str, Any]]:
    """The pod's volumes; those that the root file system's being read-only makes necessary too."""
    found: list[dict[str, Any]] = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "cache", **_cache(orthrus.spec.model.cache)},
    ]
    source = orthrus.spec.model.location()
    if isinstance(source, ClaimSource):
        claim = {"claimName": source.claim, "readOnly": True}
        found.append({"name": "model", "persistentVolumeClaim": claim})
    return found


def volume_mounts(orthrus: OrthrusDeployment) -> list[dict[str, Any]]:
    """Where the replica's container finds them."""
    found: list[dict[str, Any]] = [
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108
        {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108
        {"name": "cache", "mountPath": CACHE_FOLDER},
    ]
    source = orthrus.spec.model.location()
    if isinstance(source, ClaimSource):
        mount = {"name": "model", "mountPath": f"/models/{source.claim}", "readOnly": True}
        found.append(mount)
    return found


def _cache(cache: Cache | None) -> dict[str, Any]:
    if cache and cache.persistent_volume_claim:
        return {"persistentVolumeClaim": {"claimName": cache.persistent_volume_claim.claim_name}}
    limit = cache.empty_dir.size_limit if cache and cache.empty_dir else None
    return {"emptyDir": {"sizeLimit": str(limit if limit is not None else _DEFAULT_CACHE_SIZE)}}
