"""An image as buildah keeps it: a config and a chain of layers, each an open directory."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.cluster.commands import run
from e2e.cluster.errors import ClusterError

_CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
_MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True)
class Layer:
    """One layer: digest and size (bytes) of its uncompressed tar, and where its files are."""

    diff_id: str
    size: int
    directory: Path


@dataclass(frozen=True)
class StoredImage:
    """An image of the local storage under the name `reference`; layers from the lowest up."""

    reference: str
    config: bytes
    layers: tuple[Layer, ...]

    @classmethod
    def find(cls, reference: str) -> "StoredImage":
        """Read the image `reference` from buildah's storage.

        Raises:
            ClusterError: it is not there, or the storage is not made of overlay directories.
        """
        store = json.loads(run(["buildah", "info"]))["store"]
        if store["GraphDriverName"] != "overlay":
            raise ClusterError(
                f"buildah keeps images with {store['GraphDriverName']}, not overlay: run buildah "
                f"push {reference} docker-archive:FILE, then load-image {reference} --archive FILE"
            )
        try:
            image = _storage("image", "--json", reference)[0]
        except ClusterError:
            raise ClusterError(f"buildah has no image {reference}: build it first") from None
        config = run(["containers-storage", "get-image-data", image["id"], f"sha256:{image['id']}"])
        layers: list[Layer] = []
        identifier = image["layer"]
        while identifier:
            layer = _storage("layer", "--json", identifier)[0]
            directory = Path(store["GraphRoot"]) / "overlay" / identifier / "diff"
            layers.append(Layer(layer["diff-digest"], layer["diff-size"], directory))
            identifier = layer.get("parent")
        return cls(reference, config.encode(), tuple(reversed(layers)))

    def chain_ids(self) -> list[str]:
        """Each layer's name together with all below it (OCI image specification, ChainID)."""
        chain: list[str] = []
        for layer in self.layers:
            both = f"{chain[-1]} {layer.diff_id}" if chain else None
            chain.append(
                f"sha256:{hashlib.sha256(both.encode()).hexdigest()}" if both else layer.diff_id
            )
        return chain

    def manifest(self) -> bytes:
        """The OCI manifest of the image with uncompressed layers."""
        layers = [
            {"mediaType": _LAYER_TYPE, "digest": layer.diff_id, "size": layer.size}
            for layer in self.layers
        ]
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": {"mediaType": _CONFIG_TYPE, **_descriptor(self.config)},
            "layers": layers,
        }
        return json.dumps(manifest).encode()

    @property
    def digest(self) -> str:
        return _digest(self.manifest())

    def index(self) -> dict[str, bytes]:
        """Files of an OCI layout that describes the image, without its layers."""
        manifest = self.manifest()
        entry = {
            "mediaType": _MANIFEST_TYPE,
            **_descriptor(manifest),
            "annotations": {"io.containerd.image.name": self.reference},
        }
        return {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
            _blob(manifest): manifest,
            _blob(self.config): self.config,
        }


def _storage(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(["containers-storage", *words]))
    return found


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _descriptor(content: bytes) -> dict[str, object]:
    return {"digest": _digest(content), "size": len(content)}


def _blob(content: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"
