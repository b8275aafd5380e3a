"""The control plane's components and their settings, all in node 1."""

from collections.abc import Mapping

from e2e.cluster.daemons import Daemon
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import Namespaces, system_cgroup
from e2e.cluster.pki import Pki
from e2e.cluster.probes import Trust, https_probe
from e2e.cluster.tools import tool

_ETCD_PORT = 2379
_API_PORT = 6443
_CONTROLLER_MANAGER_PORT = 10257
_SCHEDULER_PORT = 10259

Flags = Mapping[str, Mapping[str, object]]
"""By component."""


class ControlPlane:
    """Describes each component of the control plane; nothing is started here."""

    def __init__(
        self, layout: Layout, pki: Pki, inside: Namespaces, flags: Flags | None = None
    ) -> None:
        """`flags` go before those that every cluster has."""
        self._layout = layout
        self._flags = flags or {}
        self._pki = pki
        self._inside = inside
        self._address = layout.control_plane.address
        self.trust = Trust(pki.cluster.files.certificate, pki.admin)

    def daemons(self) -> tuple[Daemon, ...]:
        """In the order in which they can start."""
        return (self._etcd(), self._api_server(), self._controller_manager(), self._scheduler())

    def _etcd(self) -> Daemon:
        pki = self._pki
        url = f"https://{self._address}:{_ETCD_PORT}"
        return self._daemon(
            "etcd",
            "etcd",
            {
                "data-dir": self._layout.root / "etcd",
                "listen-client-urls": url,
                "advertise-client-urls": url,
                "listen-peer-urls": "http://127.0.0.1:2380",
                "cert-file": pki.etcd_server.certificate,
                "key-file": pki.etcd_server.key,
                "client-cert-auth": "true",
                "trusted-ca-file": pki.etcd.files.certificate,
            },
            port=_ETCD_PORT,
            path="/health",
            trust=Trust(pki.etcd.files.certificate, pki.etcd_client),
        )

    def _api_server(self) -> Daemon:
        pki = self._pki
        return self._daemon(
            "kube-apiserver",
            str(tool("kube-apiserver")),
            {
                "advertise-address": self._address,
                "secure-port": _API_PORT,
                "tls-cert-file": pki.api_server.certificate,
                "tls-private-key-file": pki.api_server.key,
                "client-ca-file": pki.cluster.files.certificate,
                "anonymous-auth": "false",
                "authorization-mode": "Node,RBAC",
                "enable-admission-plugins": "NodeRestriction",
                "allow-privileged": "true",
                "service-cluster-ip-range": self._layout.service_range,
                "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
                "service-account-key-file": pki.service_accounts.certificate,
                "service-account-signing-key-file": pki.service_accounts.key,
                "etcd-servers": f"https://{self._address}:{_ETCD_PORT}",
                "etcd-cafile": pki.etcd.files.certificate,
                "etcd-certfile": pki.etcd_client.certificate,
                "etcd-keyfile": pki.etcd_client.key,
                # exec, logs and port-forward go to the address: node names do not resolve.
                "kubelet-preferred-address-types": "InternalIP",
                "kubelet-certificate-authority": pki.cluster.files.certificate,
                "kubelet-client-certificate": pki.kubelet_client.certificate,
                "kubelet-client-key": pki.kubelet_client.key,
                # The aggregation layer: autoscalers' metrics adapters are API servers themselves.
                "requestheader-client-ca-file": pki.front_proxy.files.certificate,
                "requestheader-allowed-names": "front-proxy-client",
                "requestheader-username-headers": "X-Remote-User",
                "requestheader-group-headers": "X-Remote-Group",
                "requestheader-extra-headers-prefix": "X-Remote-Extra-",
                "proxy-client-cert-file": pki.proxy_client.certificate,
                "proxy-client-key-file": pki.proxy_client.key,
            },
            port=_API_PORT,
            path="/readyz",
            trust=self.trust,
        )

    def _controller_manager(self) -> Daemon:
        pki = self._pki
        kubeconfig = pki.component_kubeconfig("kube-controller-manager")
        return self._daemon(
            "kube-controller-manager",
            str(tool("kube-controller-manager")),
            {
                "kubeconfig": kubeconfig,
                "authentication-kubeconfig": kubeconfig,
                "authorization-kubeconfig": kubeconfig,
                "use-service-account-credentials": "true",
                "service-account-private-key-file": pki.service_accounts.key,
                "root-ca-file": pki.cluster.files.certificate,
                "cluster-signing-cert-file": pki.cluster.files.certificate,
                "cluster-signing-key-file": pki.cluster.files.key,
                "requestheader-client-ca-file": pki.front_proxy.files.certificate,
                "leader-elect": "false",
            },
            port=_CONTROLLER_MANAGER_PORT,
            path="/healthz",
        )

    def _scheduler(self) -> Daemon:
        kubeconfig = self._pki.component_kubeconfig("kube-scheduler")
        return self._daemon(
            "kube-scheduler",
            str(tool("kube-scheduler")),
            {
                "kubeconfig": kubeconfig,
                "authentication-kubeconfig": kubeconfig,
                "authorization-kubeconfig": kubeconfig,
                "leader-elect": "false",
            },
            port=_SCHEDULER_PORT,
            path="/healthz",
        )

    def _daemon(
        self,
        name: str,
        command: str,
        flags: dict[str, object],
        *,
        port: int,
        path: str,
        trust: Trust | None = None,
    ) -> Daemon:
        flags = {**flags, **self._flags.get(name, {})}
        arguments = [f"--{flag}={value}" for flag, value in flags.items()]
        return Daemon(
            name=name,
            command=self._inside.enter(command, *arguments),
            cgroup=system_cgroup(self._layout, self._layout.control_plane),
            ready=https_probe(self._address, port, path, trust),
        )
