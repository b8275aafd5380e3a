"""The chart's life with real helm: upgraded with its CRD, rolled back, uninstalled; models stay.

The tests run in order on one cluster, each from the state that the one before it left. No node runs
the replicas: what counts is that nothing replaces their pods.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.cluster import Cluster
from e2e.images import build
from e2e.installation import OPERATOR, helm
from e2e.kubectl import Kubectl, KubectlError
from e2e.operator_look import wait_for_a_look
from e2e.waiting import wait_until
from orthrus_operator.api.group import CRD_NAME
from tests.chart.objects import CHART, CRD_CHART, ROOT, load
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

RELEASE, NAMESPACE = "orthrus", "chart-life"
EARLIER_MAXIMUM = 600
"""Of spec.drainSeconds in the earlier version's CRD."""
BETWEEN = EARLIER_MAXIMUM + 1


@dataclass(frozen=True)
class Release:
    """The chart under one name on one cluster, and one OrthrusDeployment beside it."""

    cluster: Cluster
    operator: str
    subject: Subject

    def install(self, chart: Path, *more: str) -> None:
        """Or upgrade, and wait until the operator works."""
        repository, tag = self.operator.rsplit(":", 1)
        values = {
            "image.repository": repository,
            "image.tag": tag,
            "servingImages.gpu.repository": "registry.invalid/serving-gpu",
            "servingImages.gpu.tag": "test",
        }
        helm(
            self.cluster,
            *("upgrade", "--install", RELEASE, str(chart), "--namespace", NAMESPACE),
            *("--create-namespace", "--wait", "--timeout", "2m"),
            *(f"--set-string={name}={value}" for name, value in values.items()),
            *more,
        )

    def helm(self, *arguments: str) -> str:
        return helm(self.cluster, *arguments, "--namespace", NAMESPACE)

    def takes(self, drain_seconds: int) -> bool:
        """Whether the API server would store that value."""
        patch = yaml.safe_dump({"spec": {"drainSeconds": drain_seconds}})
        try:
            self.subject.kubectl(
                *("patch", "orth", self.subject.name, "--type=merge", "--dry-run=server"),
                *("-p", patch),
            )
        except KubectlError as error:
            assert "spec.drainSeconds" in str(error)
            return False
        return True

    def wait_until_it_takes(self, drain_seconds: int, taken: bool) -> None:
        """A schema is served a moment after it is stored."""
        wait_until(
            f"drainSeconds {drain_seconds} taken: {taken}",
            lambda: self.takes(drain_seconds),
            lambda seen: seen == taken,
            within=30,
            every=0.2,
        )

    def model(self) -> list[tuple[str, int]]:
        """Identity and generation of the Deployment and its pods: equal before and after means
        that no model was disturbed."""
        found = [self.subject.child("deployment"), *self.subject.pods()]
        return [(each["metadata"]["uid"], each["metadata"]["generation"]) for each in found]

    def wait_for_a_look(self) -> None:
        wait_for_a_look(self.subject.kubectl, self.subject.name)

    def wait_until_served(self) -> None:
        """An operator has looked at the present spec, and made the replica's pod."""
        self.subject.wait_for_pods(1)
        self.subject.wait_for_condition("Ready", "False NoFreeGPU")
        self.subject.wait(
            "generation",
            self.subject.stored,
            lambda seen: seen["status"]["observedGeneration"] == seen["metadata"]["generation"],
        )


@pytest.fixture(scope="module")
def release(private_cluster: Cluster) -> Iterator[Release]:
    operator = build("operator")
    private_cluster.load_image(operator)
    kubectl = Kubectl(private_cluster.tool("kubectl"), private_cluster.kubeconfig, NAMESPACE)
    yield Release(private_cluster, operator, Subject(kubectl, "model"))
    # Whatever a failed test left: the other tests of this cluster need none of it.
    for name in (RELEASE, f"{RELEASE}-crds"):
        helm(private_cluster, "uninstall", name, "--namespace", NAMESPACE, "--ignore-not-found")
    kubectl("delete", "crd", CRD_NAME, "--ignore-not-found")
    kubectl("delete", "namespace", NAMESPACE, "orthrus", "--ignore-not-found", "--wait=false")


@pytest.fixture(scope="module")
def earlier_chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chart as an earlier version may have been: its CRD has another bound and a field more."""
    chart = tmp_path_factory.mktemp("earlier") / "orthrus"
    shutil.copytree(CHART, chart)
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    (chart / "Chart.yaml").write_text(yaml.safe_dump({**about, "version": "0.0.1"}))
    [crd] = load((chart / "files" / "crd.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["drainSeconds"]["maximum"] = EARLIER_MAXIMUM
    spec["properties"]["formerField"] = {"type": "string"}
    (chart / "files" / "crd.yaml").write_text(yaml.safe_dump(crd))
    return chart


def test_an_earlier_version_works(release: Release, earlier_chart: Path) -> None:
    release.install(earlier_chart)
    release.subject.apply(formerField="kept by the earlier CRD")
    release.wait_until_served()
    assert "formerField" in release.subject.stored()["spec"]
    assert not release.takes(BETWEEN)


def test_an_upgrade_brings_its_crd_and_disturbs_no_model(release: Release) -> None:
    before = release.model()
    release.install(CHART)
    release.wait_until_it_takes(BETWEEN, True)
    release.wait_for_a_look()
    assert release.model() == before
    assert "formerField" not in release.subject.stored()["spec"]
    release.subject.apply(drainSeconds=30)
    release.wait_until_served()


def test_a_rollback_takes_the_crd_back_and_disturbs_no_model(release: Release) -> None:
    before = release.model()
    release.helm("rollback", RELEASE, "1", "--wait", "--timeout", "2m")
    release.wait_until_it_takes(BETWEEN, False)
    release.wait_for_a_look()
    assert release.model() == before
    release.subject.apply(drainSeconds=40)
    release.wait_until_served()


def test_an_uninstall_ends_soon_and_leaves_crd_and_models(release: Release) -> None:
    before = release.model()
    release.helm("uninstall", RELEASE, "--wait", "--timeout", "1m")
    assert operators(release.subject.kubectl) == []
    assert release.subject.kubectl.get("crd", CRD_NAME)
    assert release.model() == before


def test_the_crd_chart_takes_the_crd_over_and_gives_the_operator_its_fields(
    release: Release,
) -> None:
    place = ("--namespace", NAMESPACE, "--wait")
    command = ("upgrade", "--install", f"{RELEASE}-crds", str(CRD_CHART), "--take-ownership")
    helm(release.cluster, *command, *place)
    release.install(CHART, "--set=crds.install=false")
    release.wait_until_it_takes(BETWEEN, True)
    release.subject.apply(drainSeconds=50)
    release.wait_until_served()
    before = release.model()
    for name in (RELEASE, f"{RELEASE}-crds"):
        release.helm("uninstall", name, "--wait", "--timeout", "1m")
    assert release.model() == before


def test_the_plain_manifest_runs_the_operator_and_its_removal_leaves_models(
    release: Release,
) -> None:
    kubectl = replace(release.subject.kubectl, namespace="orthrus")
    text = (ROOT / "manifests" / "install.yaml").read_text()
    operator = "registry.example.com/orthrus/operator:0.1.0"
    assert operator in text
    manifest = text.replace(operator, release.operator)
    kubectl("create", "namespace", "orthrus")
    kubectl("apply", "--server-side", "-f", str(ROOT / "manifests" / "crd.yaml"))
    kubectl("apply", "--server-side", "-f", "-", stdin=manifest)
    kubectl("rollout", "status", "deployment/orthrus-operator", "--timeout=60s")
    subject = Subject(kubectl, "plain")
    subject.apply()
    moved = replace(release, subject=subject)
    moved.wait_until_served()
    before = moved.model()
    kubectl("delete", "-f", "-", "--timeout=60s", stdin=manifest)
    assert operators(kubectl) == []
    assert moved.model() == before


def test_who_asks_for_it_loses_every_model_at_once(release: Release) -> None:
    kubectl = release.subject.kubectl
    kubectl("delete", "crd", CRD_NAME, "--timeout=60s")
    wait_until(
        "no child left",
        lambda: kubectl("get", "deployments,pods,services", "--all-namespaces", "--selector", MADE),
        lambda seen: not seen,
        within=60,
    )


MADE = "app.kubernetes.io/managed-by=orthrus"


def operators(kubectl: Kubectl) -> list[dict[str, Any]]:
    return kubectl.list("deployments", OPERATOR)
