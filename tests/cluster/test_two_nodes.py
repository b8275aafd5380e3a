"""A second node takes pods, is reached across, and can be taken away again."""

from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster
from e2e.cluster.layout import Layout
from e2e.cluster.status import status
from tests.cluster.pods import Restricted, pod

pytestmark = [pytest.mark.cluster, pytest.mark.long]
LAYOUT = Layout.of("test")


@pytest.fixture
def two_nodes(private_cluster: Cluster) -> Iterator[Cluster]:
    private_cluster.up(nodes=2)
    yield private_cluster
    private_cluster.up(nodes=1)


@pytest.mark.usefixtures("two_nodes")
def test_pods_and_services_reach_across_nodes(restricted: Restricted) -> None:
    assert status(LAYOUT).nodes == {
        "node1": "Ready, 4 fake GPUs",
        "node2": "Ready, 4 fake GPUs",
    }
    serve = "echo hello > /tmp/index.html; exec httpd -f -p 8000 -h /tmp"
    for name, node, command in (("serves", "node1", serve), ("asks", "node2", "sleep 600")):
        manifest = pod(name, command, gpus=1)
        manifest["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        restricted.run(manifest)
    restricted.kubectl("expose", "pod", "serves", "--port=80", "--target-port=8000")
    address = restricted.get("serves")["status"]["podIP"]
    assert restricted.shell("asks", f"wget -qO- http://{address}:8000/") == "hello\n"
    assert restricted.shell("asks", "wget -qO- http://serves/") == "hello\n"


def test_one_node_again_leaves_the_first(private_cluster: Cluster) -> None:
    private_cluster.up(nodes=2)
    private_cluster.up(nodes=1)
    assert status(LAYOUT).nodes == {"node1": "Ready, 4 fake GPUs"}
    assert not LAYOUT.node(2).root.exists()
