"""Namespaces of a local cluster of the tests' own."""

from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster
from tests.cluster.pods import Restricted


@pytest.fixture
def restricted(private_cluster: Cluster) -> Iterator[Restricted]:
    """A namespace of this test's own, with no pods in it yet."""
    namespace = Restricted(private_cluster)
    yield namespace
    namespace.delete()
