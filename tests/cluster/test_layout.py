"""Clusters of different names share neither addresses nor directories."""

import ipaddress
from pathlib import Path

import pytest

from e2e.cluster import ClusterError
from e2e.cluster.layout import Layout
from e2e.cluster.state import record_node_count, same_addresses


def ranges(layout: Layout) -> list[ipaddress.IPv4Network]:
    texts = (layout.node_range, layout.pod_range, layout.service_range)
    return [ipaddress.IPv4Network(text) for text in texts]


def test_addresses_of_two_clusters_do_not_overlap() -> None:
    every = [*ranges(Layout.of("main")), *ranges(Layout.of("test"))]
    for number, one in enumerate(every):
        assert not any(one.overlaps(other) for other in every[number + 1 :])


def test_a_cluster_that_is_up_keeps_its_addresses_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORTHRUS_CACHE", str(tmp_path))
    first, second = Layout.of("mon"), Layout.of("bench")
    assert first.index == second.index
    first.root.mkdir(parents=True)
    assert same_addresses(second) is None
    record_node_count(first, 1)
    assert same_addresses(second) == "mon"
    assert same_addresses(first) is None


def test_nodes_lie_in_the_ranges_of_their_cluster() -> None:
    layout = Layout.of("test")
    nodes, pods, services = ranges(layout)
    for node in (layout.node(1), layout.node(2)):
        assert ipaddress.IPv4Address(node.address) in nodes
        assert ipaddress.IPv4Address(node.gateway) in nodes
        assert ipaddress.IPv4Network(node.pod_range).subnet_of(pods)
    assert ipaddress.IPv4Address(layout.dns_service_address) in services
    assert layout.node(1).pod_range != layout.node(2).pod_range


def test_the_name_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHRUS_CLUSTER_NAME", "other")
    assert Layout.of().root.name == "other"


@pytest.mark.parametrize("name", ["../etc", "Main", "a" * 21, "1st"])
def test_a_name_that_is_no_short_word_is_refused(name: str) -> None:
    with pytest.raises(ClusterError, match="cluster name"):
        Layout.of(name)
