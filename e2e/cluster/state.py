"""What a cluster keeps in its directory between commands."""

from collections.abc import Iterator
from pathlib import Path

from e2e.cluster.layout import Layout


def node_count(layout: Layout) -> int:
    """How many nodes the cluster was last asked to have; 0 when it is down."""
    try:
        return int(_nodes_file(layout).read_text())
    except FileNotFoundError:
        return 0


def record_node_count(layout: Layout, nodes: int) -> None:
    _nodes_file(layout).write_text(f"{nodes}\n")


def same_addresses(layout: Layout) -> str | None:
    """Name of another cluster that is up with the addresses of this one: names are hashed."""
    others = (Layout.of(path.name) for path in layout.root.parent.iterdir() if path.is_dir())
    return next(
        (
            other.name
            for other in others
            if other.name != layout.name and other.index == layout.index and node_count(other)
        ),
        None,
    )


def lock_file(layout: Layout) -> Path:
    """Beside the cluster's directory, which comes and goes."""
    return layout.root.with_suffix(".lock")


def disposable(layout: Layout, *, keep_images: bool) -> Iterator[Path]:
    """What `down` deletes: all but the logs, and, if wanted, what the nodes' containerd holds."""
    if not layout.root.exists():
        return
    for path in layout.root.iterdir():
        if path == layout.logs:
            continue
        images = path / "var-lib" / "containerd"
        if keep_images and images.exists():
            yield from (child for child in path.iterdir() if child != images.parent)
            yield from (child for child in images.parent.iterdir() if child != images)
        else:
            yield path


def _nodes_file(layout: Layout) -> Path:
    return layout.root / "nodes"
