"""Bringing a cluster up, or what is missing of it. May be repeated at any time."""

import datetime
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from e2e.cluster import system_images
from e2e.cluster.containers import Containers
from e2e.cluster.control_plane import ControlPlane, Flags
from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.down import end_node
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import MAX_NODES, Layout, Node
from e2e.cluster.locking import locked
from e2e.cluster.namespaces import Namespaces, ensure_namespaces
from e2e.cluster.network import ensure_host_link, ensure_node_link
from e2e.cluster.node import FAKE_GPUS, NodeComponents, kubelet_name
from e2e.cluster.pki import Pki
from e2e.cluster.probes import dns_probe
from e2e.cluster.progress import step
from e2e.cluster.state import lock_file, node_count, record_node_count, same_addresses
from e2e.cluster.tools import all_tools, tool
from e2e.cluster.waiting import wait_until
from e2e.kubectl import Kubectl, KubectlError

_COREDNS = Path(__file__).with_name("config") / "coredns.yaml"


def up(layout: Layout, nodes: int | None = None) -> None:
    """Have the cluster run with that many nodes (None: as many as it has, else one).

    Raises:
        ClusterError: another cluster has its addresses, or a part does not come up; the message
            ends with the last lines of its log.
        KubectlError: the API server refuses what makes up the cluster's DNS.
    """
    with _claimed(layout):
        _Up(layout).run(nodes or node_count(layout) or 1)


def up_control_plane(layout: Layout, flags: Flags) -> Namespaces:
    """Have the control plane run alone, for nodes that are none: no kubelet, no containers, no DNS.

    Returns the way into its network. Raises ClusterError as `up` does.
    """
    with _claimed(layout):
        return _Up(layout).run_control_plane(flags)


@contextmanager
def _claimed(layout: Layout) -> Iterator[None]:
    all_tools()
    with locked(lock_file(layout), f"cluster {layout.name}"):
        layout.root.mkdir(parents=True, exist_ok=True)
        if other := same_addresses(layout):
            raise ClusterError(
                f"the clusters {layout.name} and {other} would have the same addresses: choose"
                " another name"
            )
        yield


class _Up:
    """One run of `up`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._daemons = Daemons(layout)
        self._pki = Pki(layout)
        self._kubectl = Kubectl(tool("kubectl"), self._pki.admin_kubeconfig(), "kube-system")

    def run(self, wanted: int) -> None:
        layout = self._layout
        record_node_count(layout, wanted)
        first = self._start_control_plane({})
        self._start_node(layout.control_plane, first)
        for number in range(2, wanted + 1):
            node = layout.node(number)
            inside = ensure_namespaces(layout, self._daemons, node)
            ensure_node_link(first, node, inside)
            self._start_node(node, inside)
        for number in range(wanted + 1, MAX_NODES + 1):
            if layout.node(number).root.exists():
                self._remove_node(layout.node(number))
        self._start_dns()

    def run_control_plane(self, flags: Flags) -> Namespaces:
        record_node_count(self._layout, 1)  # its addresses are taken
        return self._start_control_plane(flags)

    def _start_control_plane(self, flags: Flags) -> Namespaces:
        layout = self._layout
        first = ensure_namespaces(layout, self._daemons, layout.control_plane)
        ensure_host_link(layout, first)
        for daemon in ControlPlane(layout, self._pki, first, flags).daemons():
            self._ensure(daemon)
        return first

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
            wait_until(f"{node.name} is Ready", lambda: self._not_ready(node), seconds=120)
        self._ensure(components.kube_proxy())
        with step(f"Offer {FAKE_GPUS} fake GPUs on {node.name}"):
            wait_until(f"{node.name} offers fake GPUs", components.offered_gpus, seconds=120)

    def _not_ready(self, node: Node) -> str | None:
        """None when the node is Ready in the words of the kubelet that runs now."""
        try:
            found = self._kubectl.get("node", node.name)
        except KubectlError as error:
            return str(error)
        conditions = found["status"].get("conditions", []) if found else []
        ready = next((each for each in conditions if each["type"] == "Ready"), None)
        if ready is None:
            return "it has no Ready condition"
        reported = datetime.datetime.fromisoformat(ready["lastHeartbeatTime"])
        if reported < self._daemons.started_at(kubelet_name(node)):
            return "no report of its kubelet since it started"
        return None if ready["status"] == "True" else str(ready["message"])

    def _remove_node(self, node: Node) -> None:
        with step(f"Remove {node.name}"):
            self._kubectl("delete", "node", node.name, "--ignore-not-found", "--timeout=30s")
            end_node(self._layout, node)

    def _start_dns(self) -> None:
        """CoreDNS is ready when it answers: what the API server knows of its pod may be old."""
        template = _COREDNS.read_text()
        address = self._layout.dns_service_address
        manifest = Template(template).substitute(
            manifest_hash=hashlib.sha256(template.encode()).hexdigest()[:12],
            image=system_images.coredns().reference,
            service_address=address,
        )
        with step("Start coredns"):
            apply = ("apply", "--server-side", "--force-conflicts", "--filename=-")
            self._kubectl(*apply, stdin=manifest)
            answers = dns_probe(address, "kubernetes.default.svc.cluster.local")
            wait_until("coredns answers", answers, seconds=120)
