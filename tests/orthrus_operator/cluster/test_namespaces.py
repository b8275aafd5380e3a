"""Several namespaces, of which one is gone, or its Roles are: the others are served."""

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e.kubectl import Kubectl
from e2e.operator_account import grant, operator_kubeconfig
from orthrus_operator.reconciler.replica_poller import ReplicaPoller
from orthrus_operator.reconciler.served_namespaces import barred, first_allowed
from tests.orthrus_operator.cluster.connection import connected
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster


@pytest.fixture
def elsewhere(kubectl: Kubectl) -> Iterator[Kubectl]:
    """A namespace in which the operator of these tests has no right."""
    other = Kubectl(kubectl.program, kubectl.kubeconfig, f"elsewhere-{uuid.uuid4().hex[:8]}")
    other("create", "namespace", other.namespace)
    yield other
    other("delete", "namespace", other.namespace, "--wait=false")


def test_a_namespace_that_is_gone_keeps_no_other_from_being_served(
    subject: Subject, operator: Operator
) -> None:
    gone = f"gone-{uuid.uuid4().hex[:8]}"
    operator.stop()
    operator.start(ORTHRUS_NAMESPACES=f"{gone},{subject.kubectl.namespace}")
    try:
        subject.apply()
        subject.wait_for_children()
        assert f"namespace {gone} is not served" in operator.log()
    finally:
        operator.stop()
        operator.start()


async def test_the_metrics_of_one_namespace_do_not_need_the_others(
    demo: Subject, operator: Operator, elsewhere: Kubectl
) -> None:
    async with connected(operator.kubeconfig) as api:
        poller = ReplicaPoller(api, [elsewhere.namespace, demo.kubectl.namespace], print)
        await poller.look()
    assert (demo.kubectl.namespace, demo.name) in poller.deployments()


async def test_a_namespace_whose_roles_come_back_is_noticed(
    elsewhere: Kubectl, tmp_path: Path
) -> None:
    grant(elsewhere)
    config = tmp_path / "kubeconfig"
    config.write_text(yaml.safe_dump(operator_kubeconfig(elsewhere)))
    elsewhere("delete", "rolebinding", "operator")
    names = ("default", elsewhere.namespace)
    async with connected(config) as api, asyncio.timeout(60):
        while await barred(api, names, within=0.0) != names:  # noqa: ASYNC110 (observes)
            await asyncio.sleep(0.1)
        waiting = asyncio.create_task(first_allowed(api, names, every=0.2))
        await asyncio.sleep(1)
        assert not waiting.done()
        grant(elsewhere)
        assert await waiting == elsewhere.namespace
        assert await barred(api, names, within=0.0) == ("default",)
