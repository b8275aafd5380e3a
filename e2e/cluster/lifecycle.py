"""Bringing a cluster up and down. Both may be repeated at any time, from any half state."""

import datetime
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from string import Template

from e2e.cluster import cgroups, system_images
from e2e.cluster.commands import run, succeeds
from e2e.cluster.containers import Containers
from e2e.cluster.control_plane import ControlPlane
from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.errors import ClusterError
from e2e.cluster.kubectl import Kubectl
from e2e.cluster.layout import MAX_NODES, Layout, Node
from e2e.cluster.locking import locked
from e2e.cluster.namespaces import (
    Namespaces,
    ensure_namespaces,
    init_name,
    pods_cgroup,
    system_cgroup,
)
from e2e.cluster.network import ensure_host_link, ensure_node_link
from e2e.cluster.node import FAKE_GPUS, NodeComponents, kubelet_name
from e2e.cluster.pki import Pki
from e2e.cluster.probes import dns_probe
from e2e.cluster.progress import step
from e2e.cluster.tools import all_tools
from e2e.cluster.waiting import wait_until

_COREDNS = Path(__file__).with_name("config") / "coredns.yaml"


def node_count(layout: Layout) -> int:
    """How many nodes the cluster was last asked to have; 0 when it is down."""
    try:
        return int((layout.root / "nodes").read_text())
    except FileNotFoundError:
        return 0


def up(layout: Layout, nodes: int | None = None) -> None:
    """Have the cluster run with that many nodes (None: as many as it has, else one).

    Raises:
        ClusterError: a part does not come up; the message ends with the last lines of its log.
    """
    all_tools()
    with locked(layout.root.with_suffix(".lock"), f"cluster {layout.name}"):
        wanted = nodes or node_count(layout) or 1
        layout.root.mkdir(parents=True, exist_ok=True)
        _Up(layout).run(wanted)


class _Up:
    """One run of `up`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._daemons = Daemons(layout)
        self._pki = Pki(layout)
        self._kubectl = Kubectl(self._pki.admin_kubeconfig())

    def run(self, wanted: int) -> None:
        layout = self._layout
        for number in range(MAX_NODES, wanted, -1):
            self._remove_node(layout.node(number))
        (layout.root / "nodes").write_text(f"{wanted}\n")
        first = ensure_namespaces(layout, self._daemons, layout.control_plane)
        ensure_host_link(layout, first)
        for daemon in ControlPlane(layout, self._pki, first).daemons():
            self._ensure(daemon)
        self._start_node(layout.control_plane, first)
        for number in range(2, wanted + 1):
            node = layout.node(number)
            inside = ensure_namespaces(layout, self._daemons, node)
            ensure_node_link(first, node, inside)
            self._start_node(node, inside)
        self._start_dns()

    def _ensure(self, daemon: Daemon) -> None:
        with step(f"Start {daemon.name}") as running:
            if not self._daemons.ensure(daemon):
                running.note("already running")

    def _start_node(self, node: Node, inside: Namespaces) -> None:
        components = NodeComponents(self._layout, node, self._pki, inside)
        sandbox = system_images.busybox()
        self._ensure(components.containerd(sandbox.reference))
        containers = Containers(node, inside)
        present = containers.images()
        for image in (sandbox, system_images.coredns()):
            if image.reference not in present:
                with step(f"Load image {image.name} into {node.name}"):
                    containers.import_archive(image.archive())
        self._ensure(components.fake_gpus())
        self._ensure(components.kubelet())
        with step(f"Wait for {node.name} to be Ready"):
            wait_until(f"{node.name} is Ready", lambda: self._not_ready(node), seconds=60)
        self._ensure(components.kube_proxy())
        with step(f"Offer {FAKE_GPUS} fake GPUs on {node.name}"):
            offered = components.offered_gpus
            wait_until(f"{node.name} offers fake GPUs", offered, seconds=60)

    def _not_ready(self, node: Node) -> str | None:
        """None when the node is Ready in the words of the kubelet that runs now."""
        try:
            conditions = self._kubectl.get("node", node.name)["status"].get("conditions", [])
        except ClusterError as error:
            return str(error)
        ready = next((each for each in conditions if each["type"] == "Ready"), None)
        if ready is None:
            return "it has no Ready condition"
        reported = datetime.datetime.fromisoformat(ready["lastHeartbeatTime"])
        if reported < self._daemons.started_at(kubelet_name(node)):
            return "no report of its kubelet since it started"
        return None if ready["status"] == "True" else str(ready["message"])

    def _start_dns(self) -> None:
        template = _COREDNS.read_text()
        with step("Start coredns"):
            self._kubectl.apply(
                Template(template).substitute(
                    manifest_hash=hashlib.sha256(template.encode()).hexdigest()[:12],
                    image=system_images.coredns().reference,
                    service_address=self._layout.dns_service_address,
                )
            )
            answers = dns_probe(
                self._layout.dns_service_address, "kubernetes.default.svc.cluster.local"
            )
            wait_until("coredns answers", answers, seconds=120)

    def _remove_node(self, node: Node) -> None:
        layout = self._layout
        if self._daemons.pid(init_name(node)) is None and not node.root.exists():
            return
        with step(f"Remove {node.name}"):
            self._kubectl("delete", "node", node.name, "--ignore-not-found")
            for cgroup in (pods_cgroup(layout, node), system_cgroup(layout, node)):
                cgroups.kill(cgroup)
                cgroups.remove(cgroup)
            for record in layout.pids.glob(f"{node.name}-*.json"):
                record.unlink()
            shutil.rmtree(node.root)


def down(layout: Layout, *, keep_images: bool = True) -> None:
    """End the cluster: processes, mounts, interfaces, rules, cgroups and state. Logs stay.

    The images that its nodes have loaded stay in the cache unless `keep_images` is false.

    Raises:
        ClusterError: something cannot be ended.
    """
    with (
        locked(layout.root.with_suffix(".lock"), f"cluster {layout.name}"),
        step(f"Take cluster {layout.name} down"),
    ):
        cgroups.kill(layout.cgroup)
        if succeeds(["ip", "link", "show", layout.host_interface]):
            run(["ip", "link", "delete", layout.host_interface])
        cgroups.remove(layout.cgroup)
        for path in _state(layout, keep_images=keep_images):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _state(layout: Layout, *, keep_images: bool) -> Iterator[Path]:
    """What `down` deletes below the cluster's directory."""
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
