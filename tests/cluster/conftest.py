"""A local cluster of the tests' own: they break it, while the shared one goes on serving others."""

from collections.abc import Callable, Iterator

import pytest

from e2e.cluster import Cluster
from e2e.cluster.down import down
from e2e.cluster.layout import Layout
from tests.cluster.pods import Restricted


@pytest.fixture(scope="session")
def start_private() -> Iterator[Callable[[str], Cluster]]:
    """Starts clusters by name; all are taken down, with their images, at the end."""
    if Cluster.current().local is None:
        pytest.skip("KUBECONFIG is set to another cluster, and these tests are about the local one")
    started: list[Layout] = []

    def start(name: str) -> Cluster:
        layout = Layout.of(name)
        started.append(layout)
        cluster = Cluster(layout.kubeconfig, layout)
        cluster.up()
        return cluster

    yield start
    for layout in started:
        down(layout, keep_images=False)


@pytest.fixture(scope="session")
def private_cluster(start_private: Callable[[str], Cluster]) -> Cluster:
    """A cluster called `test`."""
    return start_private("test")


@pytest.fixture
def restricted(private_cluster: Cluster) -> Iterator[Restricted]:
    """A namespace of this test's own, with no pods in it yet."""
    namespace = Restricted(private_cluster)
    yield namespace
    namespace.delete()
