"""A real API server with our CRD, and an operator on it."""

import json
import sys
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from e2e.cluster import Cluster
from e2e.kubectl import Kubectl
from orthrus_operator.api.crd import custom_resource_definition
from orthrus_operator.reconciler.client import Api
from tests.orthrus_operator.cluster.connection import connected
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """KUBECONFIG's cluster if that is set, else the local one, with our CRD."""
    found = Cluster.current()
    found.up()
    kubectl = Kubectl(found.tool("kubectl"), found.kubeconfig)
    crd = json.dumps(custom_resource_definition())
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crd)
    kubectl.wait_established("crd/orthrusdeployments.serving.orthrus.io")
    return found


@pytest.fixture(scope="session")
def kubectl(cluster: Cluster) -> Iterator[Kubectl]:
    """kubectl in a namespace that only these tests use."""
    name = f"operator-test-{uuid.uuid4().hex[:8]}"
    kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, name)
    kubectl("create", "namespace", name)
    yield kubectl
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
async def api(kubectl: Kubectl) -> AsyncIterator[Api]:
    """With an administrator's rights."""
    async with connected(kubectl.kubeconfig) as api:
        yield api


@pytest.fixture(scope="session")
def operator(kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    started = Operator(kubectl, tmp_path_factory.mktemp("operator"))
    started.start()
    yield started
    started.stop()
    started.proxy.close()
    sys.stdout.write(started.log())


@pytest.fixture
def subject(kubectl: Kubectl, operator: Operator) -> Iterator[Subject]:
    """An OrthrusDeployment of this test's own; nothing is applied yet."""
    made = Subject(kubectl, f"test-{uuid.uuid4().hex[:8]}")
    yield made
    made.delete()


@pytest.fixture
def demo(subject: Subject) -> Subject:
    """A subject that is applied and has all its children."""
    subject.apply()
    subject.wait_for_children()
    return subject
