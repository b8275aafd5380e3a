"""A node's components and their settings: containerd, kubelet, kube-proxy and the fake GPUs."""

from collections.abc import Callable
from pathlib import Path
from string import Template

from e2e.cluster.commands import run
from e2e.cluster.daemons import Daemon
from e2e.cluster.errors import ClusterError
from e2e.cluster.files import write_if_changed
from e2e.cluster.layout import Layout, Node
from e2e.cluster.namespaces import Namespaces, pods_cgroup, system_cgroup
from e2e.cluster.pki import Pki
from e2e.cluster.probes import http_probe
from e2e.cluster.tools import tool
from e2e.kubectl import Kubectl, KubectlError

CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
FAKE_GPUS = 4
GPU_RESOURCE = "nvidia.com/gpu"
_TEMPLATES = Path(__file__).with_name("config")
_KUBELET_HEALTH_PORT = 10248
_PROXY_HEALTH_PORT = 10256


def kubelet_name(node: Node) -> str:
    """The name of the node's kubelet among the daemons."""
    return f"{node.name}-kubelet"


class NodeComponents:
    """Describes the components of one node; writes their configuration files, starts nothing."""

    def __init__(self, layout: Layout, node: Node, pki: Pki, inside: Namespaces) -> None:
        self._layout = layout
        self._node = node
        self._pki = pki
        self._inside = inside

    def containerd(self, sandbox_image: str) -> Daemon:
        network = self._write("cni/10-orthrus.conflist", pod_range=self._node.pod_range)
        config = self._write(
            "containerd.toml", sandbox_image=sandbox_image, network_directory=network.parent
        )

        def ready() -> str | None:
            try:
                run(self._inside.enter("ctr", "version"), seconds=10)
            except ClusterError as error:
                return str(error)
            return None

        return self._daemon("containerd", ("containerd", "--config", config), ready, config)

    def kubelet(self) -> Daemon:
        kubeconfig, serving = self._pki.kubelet(self._node)
        config = self._write(
            "kubelet.yaml",
            address=self._node.address,
            authority=self._pki.cluster.files.certificate,
            certificate=serving.certificate,
            key=serving.key,
            cgroup_root=f"/{pods_cgroup(self._layout, self._node)}",
            dns_address=self._layout.dns_service_address,
            containerd_socket=CONTAINERD_SOCKET,
            health_port=_KUBELET_HEALTH_PORT,
        )
        command = (
            tool("kubelet"),
            f"--config={config}",
            f"--kubeconfig={kubeconfig}",
            f"--hostname-override={self._node.name}",
            f"--node-ip={self._node.address}",
            f"--node-labels=e2e.orthrus.io/fake-gpus={FAKE_GPUS}",
        )
        ready = http_probe(self._node.address, _KUBELET_HEALTH_PORT, "/healthz")
        return self._daemon("kubelet", command, ready, config)

    def kube_proxy(self) -> Daemon:
        config = self._write(
            "kube-proxy.yaml",
            kubeconfig=self._pki.component_kubeconfig("kube-proxy"),
            node=self._node.name,
            address=self._node.address,
            pod_range=self._layout.pod_range,
            health_port=_PROXY_HEALTH_PORT,
        )
        ready = http_probe(self._node.address, _PROXY_HEALTH_PORT, "/livez")
        return self._daemon("kube-proxy", (tool("kube-proxy"), f"--config={config}"), ready, config)

    def fake_gpus(self) -> Daemon:
        """To be started before the kubelet, which it waits for: see `offered_gpus`."""
        command = (tool("fake-gpu"), f"-resource={GPU_RESOURCE}", f"-count={FAKE_GPUS}")
        return self._daemon("fake-gpu", command, lambda: None)

    def offered_gpus(self) -> str | None:
        """None when the node's object offers the fake GPUs, else what it offers."""
        try:
            node = Kubectl(tool("kubectl"), self._layout.kubeconfig).get("node", self._node.name)
        except KubectlError as error:
            return str(error)
        if node is None:
            return "no such node"
        offered = node["status"].get("allocatable", {}).get(GPU_RESOURCE, "0")
        return None if offered == str(FAKE_GPUS) else f"{offered} {GPU_RESOURCE}"

    def _daemon(
        self,
        name: str,
        command: tuple[str | Path, ...],
        ready: Callable[[], str | None],
        *inputs: Path,
    ) -> Daemon:
        return Daemon(
            name=f"{self._node.name}-{name}",
            command=self._inside.enter(*command),
            cgroup=system_cgroup(self._layout, self._node),
            ready=ready,
            inputs=inputs,
        )

    def _write(self, name: str, **values: object) -> Path:
        """Fill in the template `config/NAME` for this node."""
        path = self._node.root / "config" / name
        write_if_changed(path, Template((_TEMPLATES / name).read_text()).substitute(values))
        return path
