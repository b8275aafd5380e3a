"""An image of buildah's reaches the nodes without a copy, and only when it is not there yet."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.cluster import Cluster, ClusterError
from e2e.cluster.containers import Containers
from e2e.cluster.daemons import Daemons
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import Namespaces, init_name
from e2e.cluster.system_images import busybox
from tests.cluster.pods import Restricted, pod

pytestmark = [pytest.mark.cluster, pytest.mark.long]
REFERENCE = "localhost/orthrus-test/shell:1"


def buildah(*words: str | Path) -> str:
    done = subprocess.run(["buildah", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image of two layers: a shell with a file, then that file's replacement and a removal."""
    first = tmp_path_factory.mktemp("image") / "first"
    first.write_text("first")
    lower = buildah("from", "scratch")
    buildah("copy", lower, "/bin/busybox", "/bin/sh")
    for name in ("kept", "removed", "changed"):
        buildah("copy", lower, first, f"/{name}")
    identifier = buildah("commit", "--quiet", "--rm", lower)
    upper = buildah("from", identifier)
    root = Path(buildah("mount", upper))
    (root / "removed").unlink()
    (root / "changed").write_text("second")
    buildah("umount", upper)
    buildah("commit", "--quiet", "--rm", upper, REFERENCE)
    yield REFERENCE
    buildah("rmi", REFERENCE)


SHOW = "read kept < /kept; read changed < /changed; [ -e /removed ] || echo $kept $changed"


def test_a_pod_sees_the_files_of_every_layer(
    private_cluster: Cluster, restricted: Restricted, image: str
) -> None:
    private_cluster.load_image(image)
    manifest = pod("shows", f"{SHOW}; while :; do :; done")
    manifest["spec"]["containers"][0]["image"] = image
    restricted.run(manifest)
    assert restricted.kubectl("logs", "shows") == "first second\n"


def test_loading_again_does_nothing(
    private_cluster: Cluster, image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    private_cluster.load_image(image)
    capsys.readouterr()
    private_cluster.load_image(image)
    assert "already there" in capsys.readouterr().err


def test_files_are_shared_with_buildah(private_cluster: Cluster, image: str) -> None:
    private_cluster.load_image(image)
    snapshots = Layout.of("test").node(1).root / "var-lib/containerd"
    copies = snapshots.glob("io.containerd.snapshotter.v1.overlayfs/snapshots/*/fs/kept")
    assert [path.stat().st_nlink for path in copies] == [2]


def test_a_newer_image_replaces_one_that_buildah_has_dropped(
    private_cluster: Cluster, image: str
) -> None:
    old, new = (f"{image.rpartition(':')[0]}:{tag}" for tag in ("old", "new"))
    container = buildah("from", image)
    buildah("config", "--label=changed=yes", container)
    buildah("commit", "--quiet", "--rm", container, old)
    private_cluster.load_image(old)
    buildah("rmi", old)
    buildah("tag", image, new)
    private_cluster.load_image(new)
    buildah("rmi", new)
    layout = Layout.of("test")
    holder = Daemons(layout).pid(init_name(layout.node(1)))
    assert holder is not None
    images = Containers(layout.node(1), Namespaces(holder)).images()
    assert new in images
    assert old not in images


def test_an_archive_is_loaded_from_its_file(private_cluster: Cluster, tmp_path: Path) -> None:
    archive = tmp_path / "busybox.tar"
    archive.write_bytes(busybox().archive())
    private_cluster.load_image(busybox().reference, archive)
    with pytest.raises(ClusterError, match="holds no image called other:1"):
        private_cluster.load_image("other:1", archive)


def test_an_image_that_is_not_built_is_named(private_cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="buildah has no image no-such:1"):
        private_cluster.load_image("no-such:1")
