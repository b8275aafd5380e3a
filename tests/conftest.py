"""What every kind of test may use."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from e2e.cluster import Cluster
from e2e.cluster.down import down
from e2e.cluster.layout import Layout
from e2e.sample_model import sample_model as make_sample_model

# Here and nowhere else: the profile that is loaded last is that of every test. No deadline per
# example on a shared machine, and the same examples in each run.
settings.register_profile("orthrus", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("orthrus")


@pytest.fixture(scope="session")
def sample_model() -> Path:
    """Folder of the SmolLM2 checkpoint; made on first use."""
    return make_sample_model()


@pytest.fixture(scope="session")
def start_private() -> Iterator[Callable[[str], Cluster]]:
    """Starts local clusters by name, for tests that break them or change what is installed, while
    the shared one goes on serving others; all are taken down, with their images, at the end."""
    if Cluster.current().local is None:
        pytest.skip("KUBECONFIG is set to another cluster, and these tests need a local one")
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
