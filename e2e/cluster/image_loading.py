"""Images from buildah's storage into a node's containerd without copying their files.

Both keep layers as overlay directories, and neither ever writes to one again: hard links share the
files, so that an image of many gigabytes takes seconds and no disk. Where links cannot be (two file
systems), files are copied.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from e2e.cluster.commands import run, succeeds
from e2e.cluster.containers import Containers
from e2e.cluster.daemons import Daemons
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Layout, Node
from e2e.cluster.locking import locked
from e2e.cluster.namespaces import Namespaces, init_name
from e2e.cluster.progress import step
from e2e.cluster.state import lock_file, node_count
from e2e.cluster.stored_image import StoredImage
from e2e.cluster.system_images import StaticImage
from e2e.cluster.tar_files import tar_files

_SECONDS = 600

# While buildah works, its storage is mounted over itself, and no link crosses a mount: in a mount
# namespace of our own that mount is taken away first. Arguments: storage, source, target.
_LINK_SCRIPT = 'umount --lazy "$0" 2>/dev/null; exec cp --archive --link "$1/." "$2"'
_LINK = ("unshare", "--mount", "--propagation=private", "--", "sh", "-c", _LINK_SCRIPT)


def load_image(layout: Layout, reference: str, archive: Path | None) -> None:
    """Have every node of the cluster hold the image `reference`.

    Raises:
        ClusterError: the cluster is down, or the image cannot be found or imported.
    """
    with locked(lock_file(layout), f"cluster {layout.name}"):
        _load_image(layout, reference, archive)


def load_static_image(layout: Layout, image: StaticImage) -> None:
    """Have every node of the cluster hold `image`, whose name changes with its content.

    Raises:
        ClusterError: the cluster is down.
    """
    with locked(lock_file(layout), f"cluster {layout.name}"):
        for node, containers in _nodes(layout):
            if image.reference not in containers.images():
                with step(f"Load image {image.name} into {node.name}"):
                    containers.import_archive(image.archive())


def _nodes(layout: Layout) -> Iterator[tuple[Node, Containers]]:
    daemons = Daemons(layout)
    nodes = [layout.node(number + 1) for number in range(node_count(layout))]
    if not nodes:
        raise ClusterError(f"cluster {layout.name} is down: start it with up")
    for node in nodes:
        holder = daemons.pid(init_name(node))
        if holder is None:
            raise ClusterError(f"{node.name} is down: start it with up")
        yield node, Containers(node, Namespaces(holder))


def _load_image(layout: Layout, reference: str, archive: Path | None) -> None:
    for node, containers in _nodes(layout):
        with step(f"Load image {reference} into {node.name}") as running:
            if archive:
                containers.import_archive(archive)
                if reference not in containers.images():
                    raise ClusterError(f"{archive} holds no image called {reference}")
            elif load(StoredImage.find(reference), containers):
                _forget_predecessors(reference, containers)
            else:
                running.note("already there")


def load(image: StoredImage, containers: Containers) -> bool:
    """Have one node hold `image`, ready to run. False when it was there already."""
    if containers.images().get(image.reference) == image.digest:
        return False
    chain = image.chain_ids()
    present = containers.snapshots()
    parent: str | None = None
    for layer, chain_id in zip(image.layers, chain, strict=True):
        if chain_id not in present:
            name = f"loading-{chain_id}"
            _share(layer.directory, containers.prepare_snapshot(name, parent))
            containers.commit_snapshot(name, chain_id)
        parent = chain_id
    containers.import_archive(tar_files(image.index()))
    containers.release_snapshots(chain)
    return True


def _forget_predecessors(reference: str, containers: Containers) -> None:
    """Drop the node's images of the same name that are neither buildah's any more nor in use.

    Their files are shared with nobody then, and only fill the disk.
    """
    repository = reference.rpartition(":")[0]
    used = containers.images_in_use()
    images = containers.images()
    for other, digest in images.items():
        if digest == images[reference] or other.rpartition(":")[0] != repository:
            continue
        names = {name for name in images if images[name] == digest}
        if not names & used and not succeeds(["containers-storage", "exists", "--image", other]):
            containers.remove_images(sorted(names))


def _share(source: Path, target: Path) -> None:
    """Fill the empty `target` with the files of `source`, attributes and whiteouts included."""
    if succeeds([*_LINK, source.parent.parent, source, target], seconds=_SECONDS):
        return
    for child in target.iterdir():
        shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    run(["cp", "--archive", f"{source}/.", target], seconds=_SECONDS)
