"""Links and routes: host - node 1 - other nodes. Node 1 routes, so the host forwards nothing.

A veth pair dies with either end, and its routes with it: nothing is left when the nodes are gone.
"""

from e2e.cluster.commands import run, succeeds
from e2e.cluster.layout import Layout, Node
from e2e.cluster.namespaces import Namespaces

_UPLINK = "eth0"


def ensure_host_link(layout: Layout, inside: Namespaces) -> None:
    """Link the host with node 1, and route the cluster's addresses there."""
    node = layout.control_plane
    _ensure_pair(layout.host_interface, None, node, inside)
    for addresses in (layout.node_range, layout.pod_range, layout.service_range):
        run(["ip", "route", "replace", addresses, "via", node.address])


def ensure_node_link(first: Namespaces, node: Node, inside: Namespaces) -> None:
    """Link another node with node 1, which learns the way to the node's pods."""
    _ensure_pair(node.name, first, node, inside)
    run(first.enter("ip", "route", "replace", node.pod_range, "via", node.address))


def _ensure_pair(interface: str, near: Namespaces | None, node: Node, inside: Namespaces) -> None:
    """A veth pair from `interface` (in `near`, or on the host) to the node's uplink."""

    def near_side(*words: str) -> tuple[str, ...]:
        return near.enter("ip", *words) if near else ("ip", *words)

    def far_side(*words: str) -> tuple[str, ...]:
        return inside.enter("ip", *words)

    # The kernel takes the pair of a dead namespace away late: it may still be seen here.
    whole = succeeds(far_side("route", "get", node.gateway)) and succeeds(
        near_side("route", "get", node.address, "oif", interface)
    )
    if whole:
        return
    if succeeds(near_side("link", "show", interface)):
        run(near_side("link", "delete", interface))
    run(
        near_side(
            *("link", "add", interface, "type", "veth"),
            *("peer", "name", _UPLINK, "netns", str(inside.holder)),
        )
    )
    run(near_side("address", "add", f"{node.gateway}/30", "dev", interface))
    run(near_side("link", "set", interface, "up"))
    run(far_side("address", "add", f"{node.address}/30", "dev", _UPLINK))
    run(far_side("link", "set", _UPLINK, "up"))
    run(far_side("route", "replace", "default", "via", node.gateway))
