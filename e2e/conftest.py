"""What the scenarios share: the cluster, the images and an installed operator."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.cluster import Cluster
from e2e.images import build
from e2e.installation import install, uninstall
from e2e.kubectl import Kubectl
from e2e.sample_adapters import SampleAdapters, sample_adapters
from e2e.sample_model import sample_model
from e2e.waiting import wait_until

NAMESPACE = "orthrus-e2e"


@dataclass(frozen=True)
class Installation:
    """A release of the chart on a cluster, and a namespace that its operator watches."""

    cluster: Cluster
    kubectl: Kubectl
    operator: str
    serving: str

    def install(self, *, operator: str, settings: dict[str, str] | None = None) -> None:
        install(
            self.cluster,
            release="orthrus",
            namespace=NAMESPACE,
            operator=operator,
            serving=self.serving,
            settings=settings,
        )

    def operator_under_another_tag(self) -> str:
        """The same operator image by a new name, on every node: what an upgrade brings."""
        reference = f"{self.operator.rpartition(':')[0]}:upgraded"
        subprocess.run(["buildah", "tag", self.operator, reference], check=True)
        self.cluster.load_image(reference)
        return reference


@pytest.fixture(scope="session")
def model() -> Path:
    return sample_model()


@pytest.fixture(scope="session")
def adapters(model: Path) -> Iterator[SampleAdapters]:
    with sample_adapters(model) as made:
        yield made


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """The chart installed with this tree's images, in a namespace that is removed afterwards."""
    cluster = Cluster.current()
    if cluster.local is None:
        pytest.skip("images built here can only be loaded into the local cluster: unset KUBECONFIG")
    cluster.up()
    operator, serving = build("operator"), build("serving-cpu")
    for image in (operator, serving):
        cluster.load_image(image)
    kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, NAMESPACE)
    installed = Installation(cluster, kubectl, operator, serving)
    installed.install(operator=operator)
    yield installed
    kubectl("delete", "orth", "--all", "--wait=false")
    wait_until(
        "no pods of the replicas",
        lambda: len(kubectl.list("pods", REPLICAS)),
        lambda pods: pods == 0,
        within=240,
    )
    uninstall(cluster, release="orthrus", namespace=NAMESPACE)
    kubectl("delete", "namespace", NAMESPACE, "--timeout=120s")
    # It stays Released, which no later claim can bind, when its claim goes.
    kubectl("delete", "persistentvolume", f"smollm2-models-{NAMESPACE}", "--ignore-not-found")


REPLICAS = "app.kubernetes.io/managed-by=orthrus"
