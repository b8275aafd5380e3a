"""kwok: nodes and pods that are only objects of the API server, and behave."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.cluster.daemons import Daemon
from e2e.cluster.go_modules import Module
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import Namespaces, system_cgroup
from e2e.cluster.node import GPU_RESOURCE

VERSION = "0.8.0"
POD_RANGE = "10.128.0.0/16"
"""Addresses of the fake pods; they are nowhere but in the network of the control plane."""
_LEASE_SECONDS = 40
_STAGES = (
    "node/fast/node-initialize.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-delete.yaml",
)
"""A node is Ready at once, a pod on it too, and gone when it is deleted."""

MODULE = Module(
    Path(__file__).with_name("go") / "kwok",
    ("sigs.k8s.io/kwok/cmd/kwok",),
    (f"sigs.k8s.io/kwok/pkg/consts.Version=v{VERSION}",),
)


def kwok(layout: Layout, inside: Namespaces) -> Daemon:
    """Plays every node of the cluster and every pod on one."""
    stages = MODULE.source("sigs.k8s.io/kwok") / "kustomize" / "stage"
    arguments = (
        f"--kubeconfig={layout.kubeconfig}",
        "--manage-all-nodes=true",
        f"--cidr={POD_RANGE}",
        f"--node-lease-duration-seconds={_LEASE_SECONDS}",
        *(f"--config={stages / stage}" for stage in _STAGES),
    )
    return Daemon(
        name="kwok",
        # Its home: a configuration of the user's own has no part in this.
        command=inside.enter("env", f"HOME={layout.root}", MODULE.built() / "kwok", *arguments),
        cgroup=system_cgroup(layout, layout.control_plane),
        ready=lambda: None,
    )


def fake_nodes(count: int, gpus: int) -> Iterator[dict[str, Any]]:
    """Nodes with `gpus` GPUs each, and room for as many pods."""
    room = {"cpu": "1000", "memory": "8Ti", "pods": "1000", GPU_RESOURCE: str(gpus)}
    for number in range(count):
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"fake-{number}"},
            "status": {"allocatable": room, "capacity": room},
        }
