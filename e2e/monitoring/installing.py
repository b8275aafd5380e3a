"""What every part that is installed beside the replicas needs of the local cluster."""

from e2e.cluster import Cluster, ClusterError
from e2e.cluster.layout import Layout
from e2e.kubectl import Kubectl


def own(cluster: Cluster, what: str) -> Layout:
    """The layout of the local cluster, into which images of `what` can be loaded.

    Raises:
        ClusterError: the cluster is not ours.
    """
    if cluster.local is None:
        raise ClusterError(f"KUBECONFIG is set: install {what} there")
    return cluster.local


def wait_served(kubectl: Kubectl, api_service: str) -> None:
    """Wait until the API server reaches what serves the metrics of an APIService."""
    available = ("wait", "--for=condition=Available", "--timeout=60s")
    kubectl(*available, f"apiservice/{api_service}")
