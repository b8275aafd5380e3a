"""A replica can write where it must, and nowhere else."""

from typing import Any

from orthrus_operator.builders.volumes import volume_mounts, volumes
from tests.orthrus_operator.making import demo


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}


def test_every_volume_is_mounted_once() -> None:
    for source in ("hf://org/model", "pvc://models/m"):
        orthrus = demo(source)
        assert list(by_name(volumes(orthrus))) == list(by_name(volume_mounts(orthrus)))


def test_shared_memory_is_memory() -> None:
    assert by_name(volumes(demo()))["shared-memory"]["emptyDir"] == {"medium": "Memory"}
    assert by_name(volume_mounts(demo()))["shared-memory"]["mountPath"] == "/dev/shm"  # noqa: S108


def test_a_claim_of_models_is_read_only() -> None:
    orthrus = demo("pvc://models/m")
    claim = by_name(volumes(orthrus))["model"]["persistentVolumeClaim"]
    assert claim == {"claimName": "models", "readOnly": True}
    mount = by_name(volume_mounts(orthrus))["model"]
    assert mount == {"name": "model", "mountPath": "/models/models", "readOnly": True}


def test_the_cache_is_bounded_unless_it_is_a_claim() -> None:
    def cache(setting: dict[str, Any] | None) -> dict[str, Any]:
        model = {"source": "hf://org/model"} | ({"cache": setting} if setting else {})
        return by_name(volumes(demo(model=model)))["cache"]

    assert cache(None)["emptyDir"] == {"sizeLimit": "100Gi"}
    assert cache({"emptyDir": {}})["emptyDir"] == {"sizeLimit": "100Gi"}
    assert cache({"emptyDir": {"sizeLimit": "5Gi"}})["emptyDir"] == {"sizeLimit": "5Gi"}
    claimed = cache({"persistentVolumeClaim": {"claimName": "shared"}})
    assert claimed["persistentVolumeClaim"] == {"claimName": "shared"}


def test_one_claim_may_be_model_and_cache() -> None:
    cache = {"persistentVolumeClaim": {"claimName": "models"}}
    orthrus = demo(model={"source": "pvc://models/m", "cache": cache})
    assert by_name(volume_mounts(orthrus))["cache"].get("readOnly") is None
    assert by_name(volume_mounts(orthrus))["model"]["readOnly"] is True
