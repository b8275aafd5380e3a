"""A real Kubernetes on this one machine, for tests and the demo. `python -m e2e.cluster --help`."""

from e2e.cluster.cluster import Cluster
from e2e.cluster.errors import ClusterError

__all__ = ["Cluster", "ClusterError"]
