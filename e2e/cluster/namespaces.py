"""A node's own network and mount namespaces, held open by its first process (`node_init.sh`).

Nothing is mounted or named on the host: when the node's processes end, the kernel removes the rest.
"""

from pathlib import Path

from e2e.cluster import cgroups
from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.layout import Layout, Node

_INIT = Path(__file__).with_name("node_init.sh")
_READY = "run/orthrus-node-ready"


def pods_cgroup(layout: Layout, node: Node) -> str:
    """Where the kubelet puts the node's pods."""
    return f"{layout.cgroup}/{node.name}"


def system_cgroup(layout: Layout, node: Node) -> str:
    """Where the node's components and the shims of its containers live."""
    return f"{layout.cgroup}/{node.name}-system"


def init_name(node: Node) -> str:
    return f"{node.name}-init"


class Namespaces:
    """Enters the namespaces of a node that is up."""

    def __init__(self, holder: int) -> None:
        self.holder = holder

    def enter(self, *command: str | Path) -> tuple[str, ...]:
        """The command line that runs `command` inside."""
        prefix = ("nsenter", f"--target={self.holder}", "--net", "--mount", "--")
        return (*prefix, *(str(word) for word in command))

    def path(self, inside: str) -> Path:
        """The host's way to the file that is `inside` (an absolute path) for the node."""
        return Path(f"/proc/{self.holder}/root") / inside.lstrip("/")


def ensure_namespaces(layout: Layout, daemons: Daemons, node: Node) -> Namespaces:
    """Have the node's namespaces exist. What lived in lost ones is ended first, as by a reboot.

    Raises:
        ClusterError: they cannot be made; the message carries what the first process said.
    """
    name = init_name(node)
    unshare = ("unshare", "--net", "--mount", "--propagation=private", "--")
    # The script itself, not its path: another checkout must find what this one started.
    shell = ("/bin/sh", "-c", _INIT.read_text(), init_name(node))

    def ready() -> str | None:
        pid = daemons.pid(name)
        done = pid is not None and Namespaces(pid).path(_READY).exists()
        return None if done else "mounting"

    first = Daemon(
        name=name,
        command=(*unshare, *shell, str(node.root)),
        cgroup=system_cgroup(layout, node),
        ready=ready,
        seconds=10,
    )
    if not daemons.runs(first):
        for cgroup in (pods_cgroup(layout, node), system_cgroup(layout, node)):
            cgroups.end(cgroup)  # the kubelet would wait for the containers of empty ones
    for directory in ("var-lib/kubelet", "var-lib/containerd", "var-log"):
        (node.root / directory).mkdir(parents=True, exist_ok=True)
    cgroups.create(pods_cgroup(layout, node))
    daemons.ensure(first)
    holder = daemons.pid(name)
    assert holder is not None, "ensure() has just seen it alive"
    return Namespaces(holder)
