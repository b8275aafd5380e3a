"""Where one local cluster lives: its name, its directories, its addresses. Pure values.

Clusters of different names share nothing, so that tests can break one while another serves.
"""

import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from e2e.cache import cache_dir
from e2e.cluster.errors import ClusterError

DEFAULT_NAME = "main"
MAX_NODES = 2
_MAX_CLUSTERS = 64


@dataclass(frozen=True)
class Node:
    """One node: namespaces with a containerd, a kubelet and a kube-proxy of their own.

    Node 1 also holds the control plane and is the router between the host and every other node.
    """

    name: str
    root: Path
    address: str
    """The kubelet's address, at the node's end of its link."""
    gateway: str
    """The other end of the link: on the host for node 1, in node 1 for the others."""
    pod_range: str


@dataclass(frozen=True)
class Layout:
    """The cluster called `name`; `index` tells the address ranges of clusters apart."""

    name: str
    index: int
    root: Path

    @classmethod
    def of(cls, name: str | None = None) -> "Layout":
        """The layout of `name`, else of `$ORTHRUS_CLUSTER_NAME`, else of the default cluster.

        Raises:
            ClusterError: the name is not a short lower-case word.
        """
        name = name or os.environ.get("ORTHRUS_CLUSTER_NAME") or DEFAULT_NAME
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,19}", name):
            raise ClusterError(
                f"cluster name {name!r}: use 1-20 of a-z, 0-9 and '-', a letter first"
            )
        index = 0 if name == DEFAULT_NAME else 1 + zlib.crc32(name.encode()) % (_MAX_CLUSTERS - 1)
        return cls(name=name, index=index, root=cache_dir() / "cluster" / name)

    @property
    def host_interface(self) -> str:
        return f"orth{self.index}"

    @property
    def node_range(self) -> str:
        return f"10.99.{self.index}.0/24"

    @property
    def pod_range(self) -> str:
        return f"10.244.{MAX_NODES * self.index}.0/23"

    @property
    def service_range(self) -> str:
        return f"10.96.{self.index}.0/24"

    @property
    def api_service_address(self) -> str:
        return f"10.96.{self.index}.1"

    @property
    def dns_service_address(self) -> str:
        return f"10.96.{self.index}.10"

    def node(self, number: int) -> Node:
        """Node `number`, counted from 1. Its link is a /30 of `node_range`."""
        link = 4 * (number - 1)
        return Node(
            name=f"node{number}",
            root=self.root / f"node{number}",
            address=f"10.99.{self.index}.{link + 2}",
            gateway=f"10.99.{self.index}.{link + 1}",
            pod_range=f"10.244.{MAX_NODES * self.index + number - 1}.0/24",
        )

    @property
    def control_plane(self) -> Node:
        return self.node(1)

    @property
    def api_url(self) -> str:
        return f"https://{self.control_plane.address}:6443"

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def pids(self) -> Path:
        return self.root / "pids"

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubeconfig"

    @property
    def cgroup(self) -> str:
        """Name of the cluster's directory in every cgroup hierarchy."""
        return f"orthrus-{self.name}"
