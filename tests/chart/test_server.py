"""A real API server takes what the chart renders and the samples hold."""

import json
import uuid
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import Template

import pytest

from e2e.cluster import Cluster
from e2e.gateway_api import gateway_api_crds
from e2e.kubectl import Kubectl, KubectlError
from tests.chart.objects import (
    MINIMAL,
    MONITORING_GROUP,
    ROOT,
    SAMPLES,
    Object,
    Render,
    kinds,
    load,
)
from tests.orthrus_operator.cluster.stand_in_crd import stand_in

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def kubectl() -> Iterator[Kubectl]:
    """kubectl in a namespace of its own under restricted Pod Security, with the CRD installed."""
    cluster = Cluster.current()
    cluster.up()
    name = f"chart-test-{uuid.uuid4().hex[:8]}"
    kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, name)
    crd = str(ROOT / "manifests" / "crd.yaml")
    kubectl("apply", "--server-side", "--force-conflicts", "-f", crd)
    kubectl.wait_established("crd/orthrusdeployments.serving.orthrus.io")
    kubectl("create", "namespace", name)
    kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    yield kubectl
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def monitoring_kinds(kubectl: Kubectl) -> Iterator[None]:
    """Kinds of the Prometheus Operator, with any content; a cluster that has them keeps its own."""
    made = []
    for kind in ("ServiceMonitor", "PrometheusRule"):
        crd = stand_in(MONITORING_GROUP, "v1", kind)
        name = f"crd/{crd['metadata']['name']}"
        if not kubectl("get", name, "--ignore-not-found"):
            kubectl.apply(crd)
            kubectl.wait_established(name)
            made.append(name)
    yield
    if made:
        kubectl("delete", *made)


def try_out(kubectl: Kubectl, objects: list[Object]) -> str:
    """Have the API server check `objects` in kubectl's namespace, and store none of them."""
    for found in objects:
        if "namespace" in found["metadata"]:
            found["metadata"]["namespace"] = kubectl.namespace
    text = "\n---\n".join(json.dumps(found) for found in objects)
    return kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)


@pytest.mark.usefixtures("monitoring_kinds")
def test_the_server_takes_every_rendered_object(
    kubectl: Kubectl, render: Render, values: Path
) -> None:
    objects = render(values)
    assert len(try_out(kubectl, objects).splitlines()) == len(objects)


WATCHED = ("watch.namespaces=null", "watch.namespaces={a,b}", "watch.allNamespaces=true")
RIGHTS = ("rbac.create=true", "rbac.create=false", "rbac.aggregateClusterRoles=false")
REST = (
    "crds.install=false,serviceAccount.create=false,serviceAccount.name=operator",
    "hostPaths={/mnt/models},serviceAccount.name=operator,podLabels.team=a,priorityClassName=high",
    "metrics.service=false,metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,"
    "metrics.serviceMonitor.labels.release=a,metrics.dashboard.enabled=true",
)


@pytest.mark.usefixtures("monitoring_kinds")
def test_the_server_takes_what_any_mixture_of_values_renders(
    kubectl: Kubectl, render: Render
) -> None:
    different: dict[str, Object] = {}
    for mixture in product(WATCHED, RIGHTS, REST):
        for found in render(MINIMAL, *mixture):
            different[json.dumps(found, sort_keys=True)] = found
    assert len(different) >= 20
    assert len(try_out(kubectl, list(different.values())).splitlines()) == len(different)


def test_the_server_refuses_a_field_that_it_does_not_know(kubectl: Kubectl, render: Render) -> None:
    [deployment] = kinds(render(), "Deployment")
    deployment["spec"]["template"]["spec"]["nodeSelektor"] = {}
    with pytest.raises(KubectlError, match="nodeSelektor"):
        try_out(kubectl, [deployment])


def test_restricted_pod_security_admits_the_operator(
    kubectl: Kubectl, render: Render, values: Path
) -> None:
    [deployment] = kinds(render(values), "Deployment")
    pod = {**deployment["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"]["name"] = "operator"
    # The account need not exist for the check that this is about.
    pod["spec"]["serviceAccountName"] = "default"
    try_out(kubectl, [pod])


@pytest.fixture(scope="module")
def gateway_api(kubectl: Kubectl) -> Iterator[None]:
    """The kinds of the Gateway API; a cluster that has them keeps its own."""
    kinds_used = ("gateways", "httproutes")
    if all(kubectl.get("crd", f"{kind}.gateway.networking.k8s.io") for kind in kinds_used):
        yield
        return
    files = [f"--filename={file}" for file in gateway_api_crds(*kinds_used)]
    kubectl("apply", "--server-side", *files)
    kubectl.wait_established(*files)
    yield
    kubectl("delete", *files)


@pytest.mark.usefixtures("gateway_api")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_server_takes_every_sample(kubectl: Kubectl, path: Path) -> None:
    place = {"MODELS": "/models", "NAMESPACE": kubectl.namespace}
    try_out(kubectl, load(Template(path.read_text()).substitute(place)))
