"""A replica can write where it must, and nowhere else."""

from typing import Any

from orthrus_operator.builders.volumes import volume_mounts, volumes
from tests.orthrus_operator.making import demo


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}


def test_every_volume_is_mounted_once() -> None:
    auth = {"apiKeySecretRef": {"name": "keys", "key": "all"}}
    for source in ("hf://org/model", "pvc://models/m", "host:///m", "oci://r.example/m:1"):
        orthrus = demo(source, auth=auth)
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
    on_node = cache({"hostPath": {"path": "/mnt/cache"}})
    assert on_node["hostPath"] == {"path": "/mnt/cache", "type": "Directory"}
    claimed = cache({"persistentVolumeClaim": {"claimName": "shared"}})
    assert claimed["persistentVolumeClaim"] == {"claimName": "shared"}


def test_a_folder_of_the_node_is_read_only_and_must_exist() -> None:
    orthrus = demo("host:///mnt/models/m")
    volume = by_name(volumes(orthrus))["model"]
    assert volume["hostPath"] == {"path": "/mnt/models/m", "type": "Directory"}
    assert by_name(volume_mounts(orthrus))["model"]["readOnly"] is True


def test_an_image_is_mounted_as_a_volume() -> None:
    orthrus = demo("oci://registry.example:5000/models/m@sha256:0")
    volume = by_name(volumes(orthrus))["model"]
    assert volume["image"]["reference"] == "registry.example:5000/models/m@sha256:0"


def test_the_keys_are_a_folder_so_that_they_change_without_a_restart() -> None:
    orthrus = demo(auth={"apiKeySecretRef": {"name": "clients", "key": "all"}})
    secret = by_name(volumes(orthrus))["api-keys"]["secret"]
    assert secret["secretName"] == "clients"
    assert secret["items"] == [{"key": "all", "path": "keys"}]
    mount = by_name(volume_mounts(orthrus))["api-keys"]
    assert mount == {"name": "api-keys", "mountPath": "/etc/orthrus/api-keys", "readOnly": True}
    assert "subPath" not in mount


def test_one_claim_may_be_model_and_cache() -> None:
    cache = {"persistentVolumeClaim": {"claimName": "models"}}
    orthrus = demo(model={"source": "pvc://models/m", "cache": cache})
    assert by_name(volume_mounts(orthrus))["cache"].get("readOnly") is None
    assert by_name(volume_mounts(orthrus))["model"]["readOnly"] is True
