"""KEDA in pods of the local cluster, by the manifests of its own release; without its webhook."""

from collections.abc import Iterator

import yaml

from e2e.cluster import Cluster
from e2e.cluster.image_loading import load_static_image
from e2e.cluster.system_images import StaticImage
from e2e.kubectl import Kubectl
from e2e.monitoring.installing import own, wait_served
from e2e.monitoring.objects import Object, apply, delete
from e2e.monitoring.tools import KEDA

NAMESPACE = "keda"
_EXTERNAL_METRICS = "v1beta1.external.metrics.k8s.io"
_MODULE = "github.com/kedacore/keda/v2"
_FOLDERS = ("general", "crd/bases", "service_account", "rbac", "manager", "metrics-server")
_USER = 65532


class Keda:
    """The operator and the server of external metrics."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, NAMESPACE)

    def start(self) -> None:
        """Have both run, and their metrics be served.

        Raises:
            ClusterError: the cluster is not ours, so that no image can be loaded into it.
        """
        layout = own(self._cluster, "KEDA")
        images = {
            "keda-operator": StaticImage("keda", KEDA.built() / "operator", ("/bin/keda",)),
            "keda-metrics-apiserver": StaticImage(
                "keda-adapter", KEDA.built() / "adapter", ("/bin/keda-adapter",)
            ),
        }
        for image in images.values():
            load_static_image(layout, image)
        objects = list(_manifests())
        for found in objects:
            if found["kind"] == "Deployment":
                _run_image(found, images[found["metadata"]["name"]])
        apply(self._kubectl, objects)
        self._kubectl("rollout", "status", "deployment", "--timeout=180s")
        wait_served(self._kubectl, _EXTERNAL_METRICS)

    def stop(self) -> None:
        """Remove all that `start` made; ScaledObjects must be gone, or nobody takes their
        finalizers away."""
        delete(self._kubectl, _manifests())


def _manifests() -> Iterator[Object]:
    """The release's objects, in an order in which they can be made."""
    config = KEDA.source(_MODULE) / "config"
    for folder in _FOLDERS:
        for path in sorted((config / folder).glob("*.yaml")):
            if path.name != "kustomization.yaml":
                yield from filter(None, yaml.safe_load_all(path.read_text()))


def _run_image(deployment: Object, image: StaticImage) -> None:
    """Our build in place of the release's image, whose user it lacks."""
    pod = deployment["spec"]["template"]["spec"]
    pod["securityContext"]["runAsUser"] = _USER
    [container] = pod["containers"]
    container |= {"image": image.reference, "imagePullPolicy": "Never"}
    del container["command"]
    if deployment["metadata"]["name"] == "keda-operator":
        container["args"].append("--enable-webhook-patching=false")
