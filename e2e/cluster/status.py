"""What state the cluster is in, read without changing anything."""

from dataclasses import dataclass

from e2e.cluster.daemons import Daemons
from e2e.cluster.layout import Layout
from e2e.cluster.node import GPU_RESOURCE
from e2e.cluster.state import node_count
from e2e.cluster.tools import tool
from e2e.kubectl import Kubectl, KubectlError


@dataclass(frozen=True)
class Status:
    """The components and the nodes of a local cluster; both empty when it is down."""

    components: dict[str, int | None]
    """Process id by name, None for one that has ended."""
    nodes: dict[str, str]
    """A sentence about each node, by name."""
    problem: str | None
    """What keeps the cluster from being used, None when nothing does."""


def status(layout: Layout) -> Status:
    """Look at processes first, then ask the API server."""
    daemons = Daemons(layout)
    components = {name: daemons.pid(name) for name in daemons.names()}
    if not components:
        return Status({}, {}, "it is down")
    ended = [name for name, pid in components.items() if pid is None]
    if ended:
        return Status(components, {}, f"ended: {', '.join(ended)}")
    try:
        listed = Kubectl(tool("kubectl"), layout.kubeconfig).list("nodes")
    except KubectlError as error:
        return Status(components, {}, str(error))
    nodes: dict[str, str] = {}
    ready = 0
    for node in listed:
        conditions = {each["type"]: each["status"] for each in node["status"]["conditions"]}
        is_ready = conditions.get("Ready") == "True"
        ready += is_ready
        gpus = node["status"].get("allocatable", {}).get(GPU_RESOURCE, "0")
        words = "Ready" if is_ready else "not Ready"
        nodes[node["metadata"]["name"]] = f"{words}, {gpus} fake GPUs"
    wanted = node_count(layout)
    problem = None if ready == wanted else f"{ready} of {wanted} nodes Ready"
    return Status(components, nodes, problem)
