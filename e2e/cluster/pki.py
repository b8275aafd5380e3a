"""The identities of one cluster: which authority vouches for whom."""

import base64
import json
from pathlib import Path

from e2e.cluster.ca import Authority, Identity, KeyPair, signing_key
from e2e.cluster.files import write_if_changed
from e2e.cluster.layout import Layout, Node

COMPONENT_USERS = ("kube-controller-manager", "kube-scheduler", "kube-proxy")


class Pki:
    """Certificates of the cluster, made when first asked for.

    etcd and the aggregation layer have authorities of their own: a client of the API server must
    not be one of etcd's, nor able to pose as the front proxy.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.cluster = Authority(layout.pki, "ca")
        self.etcd = Authority(layout.pki, "etcd-ca")
        self.front_proxy = Authority(layout.pki, "front-proxy-ca")
        self.service_accounts = signing_key(layout.pki, "service-account")
        node = layout.control_plane
        names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"]
        hosts = (*names, "kubernetes.default.svc.cluster.local", layout.api_service_address)
        self.api_server = self.cluster.issue(
            "kube-apiserver", Identity("kube-apiserver", hosts=(*hosts, node.address))
        )
        self.kubelet_client = self.cluster.issue(
            "kube-apiserver-kubelet-client", Identity("kube-apiserver", ("system:masters",))
        )
        self.admin = self.cluster.issue("admin", Identity("orthrus-admin", ("system:masters",)))
        self.proxy_client = self.front_proxy.issue(
            "front-proxy-client", Identity("front-proxy-client")
        )
        self.etcd_server = self.etcd.issue("etcd", Identity("etcd", hosts=(node.address,)))
        self.etcd_client = self.etcd.issue("etcd-client", Identity("kube-apiserver"))

    def component_kubeconfig(self, component: str) -> Path:
        """The kubeconfig of one of `COMPONENT_USERS`; built-in roles belong to these user names."""
        pair = self.cluster.issue(component, Identity(f"system:{component}"))
        return self._kubeconfig(self._layout.pki / f"{component}.kubeconfig", component, pair)

    def kubelet(self, node: Node) -> tuple[Path, KeyPair]:
        """A node's kubeconfig (as user `system:node:NAME`) and its serving pair."""
        user = Identity(f"system:node:{node.name}", ("system:nodes",))
        pair = self.cluster.issue(f"{node.name}-client", user)
        server = Identity(f"{node.name}-kubelet", hosts=(node.name, node.address))
        config = self._layout.pki / f"{node.name}.kubeconfig"
        return self._kubeconfig(config, node.name, pair), self.cluster.issue(
            f"{node.name}-server", server
        )

    def admin_kubeconfig(self) -> Path:
        return self._kubeconfig(self._layout.kubeconfig, "admin", self.admin)

    def _kubeconfig(self, path: Path, user: str, pair: KeyPair) -> Path:
        """Write a kubeconfig with everything inside, to be copied alone. JSON is YAML."""
        name = f"orthrus-{self._layout.name}"
        cluster = {
            "server": self._layout.api_url,
            "certificate-authority-data": _encoded(self.cluster.files.certificate),
        }
        credentials = {
            "client-certificate-data": _encoded(pair.certificate),
            "client-key-data": _encoded(pair.key),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
            "current-context": name,
        }
        write_if_changed(path, json.dumps(config, indent=1) + "\n", mode=0o600)
        return path


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
