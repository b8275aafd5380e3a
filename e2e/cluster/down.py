"""Ending a cluster, or one of its nodes, from any half state."""

import shutil

from e2e.cluster import cgroups
from e2e.cluster.commands import run, succeeds
from e2e.cluster.layout import Layout, Node
from e2e.cluster.locking import locked
from e2e.cluster.namespaces import pods_cgroup, system_cgroup
from e2e.cluster.progress import step
from e2e.cluster.state import disposable, lock_file


def down(layout: Layout, *, keep_images: bool = True) -> None:
    """End the cluster: processes, mounts, interfaces, rules, cgroups and state. Logs stay.

    The images that its nodes have loaded stay in the cache unless `keep_images` is false.

    Raises:
        ClusterError: something cannot be ended.
    """
    with (
        locked(lock_file(layout), f"cluster {layout.name}"),
        step(f"Take cluster {layout.name} down"),
    ):
        # The namespaces of its processes, with mounts and rules, go with them.
        cgroups.end(layout.cgroup)
        # The kernel takes it away with the namespace of its other end, but in its own time.
        if succeeds(["ip", "link", "show", layout.host_interface]):
            run(["ip", "link", "delete", layout.host_interface])
        for path in disposable(layout, keep_images=keep_images):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def end_node(layout: Layout, node: Node) -> None:
    """End the processes of one node, and delete its state."""
    cgroups.end(pods_cgroup(layout, node))
    cgroups.end(system_cgroup(layout, node))
    for record in layout.pids.glob(f"{node.name}-*.json"):
        record.unlink()
    shutil.rmtree(node.root)
