"""Images are named after their content and described without their layers."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

from e2e.cluster.stored_image import Layer, StoredImage
from e2e.cluster.system_images import StaticImage


def test_a_static_image_is_named_after_its_content(tmp_path: Path) -> None:
    binary = tmp_path / "tool"
    binary.write_bytes(b"one")
    image = StaticImage("tool", binary, ("/bin/tool",))
    first, archive = image.reference, image.archive()
    assert (image.reference, image.archive()) == (first, archive)
    binary.write_bytes(b"two")
    assert image.reference != first


def test_a_static_image_holds_the_binary_and_its_other_names(tmp_path: Path) -> None:
    binary = tmp_path / "tool"
    binary.write_bytes(b"program")
    archive = StaticImage("tool", binary, ("/bin/tool",), links=("alias",)).archive()
    with tarfile.open(fileobj=io.BytesIO(archive)) as outer:
        layer = outer.extractfile("layer.tar")
        assert layer is not None
        with tarfile.open(fileobj=io.BytesIO(layer.read())) as inner:
            assert inner.getmember("bin/tool").mode == 0o755
            assert inner.getmember("bin/alias").linkname == "tool"


def test_a_stored_image_is_described_by_the_digests_of_its_layers() -> None:
    layers = tuple(Layer(f"sha256:{digit * 64}", 10, Path("/none")) for digit in "ab")
    image = StoredImage("localhost/example:1", b"{}", layers)
    manifest = json.loads(image.manifest())
    assert [each["digest"] for each in manifest["layers"]] == [layer.diff_id for layer in layers]
    index = json.loads(image.index()["index.json"])
    assert index["manifests"][0]["digest"] == image.digest
    joined = f"{layers[0].diff_id} {layers[1].diff_id}".encode()
    chained = f"sha256:{hashlib.sha256(joined).hexdigest()}"
    assert image.chain_ids() == [layers[0].diff_id, chained]
