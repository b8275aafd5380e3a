"""Prometheus and prometheus-adapter in pods of the local cluster, with `manifests/monitoring`."""

import hashlib
from pathlib import Path
from string import Template

import yaml

from e2e.cluster import Cluster
from e2e.cluster.image_loading import load_static_image
from e2e.cluster.system_images import StaticImage
from e2e.kubectl import Kubectl
from e2e.monitoring.generated import ROOT
from e2e.monitoring.installing import own, wait_served
from e2e.monitoring.objects import Object, apply, delete
from e2e.monitoring.prometheus import Prometheus
from e2e.monitoring.tools import PROMETHEUS, PROMETHEUS_ADAPTER
from e2e.waiting import wait_until

NAMESPACE = "orthrus-monitoring"
_CUSTOM_METRICS = "v1beta1.custom.metrics.k8s.io"
_CONFIG = Path(__file__).with_name("config")
_MANIFESTS = ROOT / "manifests" / "monitoring"
_FILES = ("scrape-config.yaml", "rules.yaml", "prometheus-adapter-rules.yaml")


class Monitoring:
    """What a cluster needs for its HPAs to read `orthrus_backlog_tokens`.

    Its objects outside the namespace are named after it, but for one: an APIService has the name
    of what it serves.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, NAMESPACE)

    def start(self) -> None:
        """Have both parts run, and be ready to answer.

        Raises:
            ClusterError: the cluster is not ours, so that no image can be loaded into it.
        """
        layout = own(self._cluster, "Prometheus and its adapter")
        prometheus = _image("prometheus", PROMETHEUS.built() / "prometheus")
        adapter = _image("prometheus-adapter", PROMETHEUS_ADAPTER.built() / "adapter")
        for image in (prometheus, adapter):
            load_static_image(layout, image)
        apply(self._kubectl, _objects(prometheus.reference, adapter.reference))
        self._kubectl("rollout", "status", "deployment", "--timeout=120s")
        wait_served(self._kubectl, _CUSTOM_METRICS)

    @property
    def prometheus(self) -> Prometheus:
        service = self._kubectl.get("service", "prometheus")
        assert service is not None, "start() made it"
        return Prometheus(f"http://{service['spec']['clusterIP']}:9090")

    def stop_prometheus(self) -> None:
        """End Prometheus alone, as if its node had died; its data is lost."""
        self._kubectl("scale", "deployment", "prometheus", "--replicas=0")
        wait_until(
            "no Prometheus",
            lambda: self._kubectl.list("pods", "app=prometheus"),
            lambda pods: not pods,
            within=60,
        )

    def resume_prometheus(self) -> None:
        self._kubectl("scale", "deployment", "prometheus", "--replicas=1")
        self._kubectl("rollout", "status", "deployment", "prometheus", "--timeout=120s")

    def stop(self) -> None:
        """Remove all that `start` made."""
        delete(self._kubectl, _objects("", ""))


def _image(name: str, binary: Path) -> StaticImage:
    return StaticImage(name, binary, (f"/bin/{name}",))


def _objects(prometheus: str, adapter: str) -> list[Object]:
    """In the order in which they can be made; the arguments are references of images."""
    files = {name: (_MANIFESTS / name).read_text() for name in _FILES}
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    return [
        _object("Namespace", NAMESPACE, labels=restricted),
        _object("ConfigMap", "orthrus") | {"data": files},
        *yaml.safe_load_all(
            Template(
                "\n---\n".join(
                    (_CONFIG / name).read_text()
                    for name in ("prometheus.yaml", "prometheus-adapter.yaml")
                )
            ).substitute(
                namespace=NAMESPACE,
                prometheus=prometheus,
                adapter=adapter,
                # Pods read the files at start only: a changed one makes new pods.
                files=hashlib.sha256("".join(files.values()).encode()).hexdigest()[:12],
            )
        ),
    ]


def _object(kind: str, name: str, **metadata: object) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}
