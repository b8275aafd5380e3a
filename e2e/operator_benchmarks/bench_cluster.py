"""A control plane of the benchmark's own, with fake nodes and an operator under measurement."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster import cgroups
from e2e.cluster.commands import run
from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.down import down
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import Namespaces, system_cgroup
from e2e.cluster.pki import Pki
from e2e.cluster.probes import Trust
from e2e.cluster.progress import step
from e2e.cluster.requirements import check_node_requirements
from e2e.cluster.tools import tool
from e2e.cluster.up import up_control_plane
from e2e.kubectl import Kubectl
from e2e.operator_benchmarks import stand_in_replicas
from e2e.operator_benchmarks.audit_log import AuditLog
from e2e.operator_benchmarks.kwok import POD_RANGE, fake_nodes, kwok
from e2e.operator_benchmarks.measured_operator import MeasuredOperator
from e2e.operator_benchmarks.sizes import Sizes
from orthrus_operator.builders.pod import PORT

NAMESPACE = "bench"
_ROOT = Path(__file__).parents[2]
_CRD = _ROOT / "manifests" / "crd.yaml"
_METRICS = _ROOT / "tests" / "orthrus_operator" / "planner" / "replica_metrics.txt"
"""What a replica with a real engine showed."""
_SERVICES = "10.97.0.0/16"
"""The range of other local clusters has no room for 500 Services."""
_PROCESSES = 8
"""That want processor time at once, of those in the cluster's cgroup."""
_UNHURRIED = {"kube-api-qps": 1000, "kube-api-burst": 2000}
"""The controllers' own limits, of 20 requests a second each, would be all that is measured."""


@dataclass(frozen=True)
class BenchCluster:
    """What runs."""

    layout: Layout
    trust: Trust
    audit: AuditLog
    operator: MeasuredOperator
    scrapes: Path
    """The log of the stand-in replicas."""


@contextmanager
def bench_cluster(sizes: Sizes) -> Iterator[BenchCluster]:
    """All but the operator runs inside the context; nothing is left behind but logs.

    Raises:
        ClusterError: a part cannot be built, or does not come up.
    """
    check_node_requirements()
    layout = Layout.of(f"{Layout.of().name}-scale")
    # What a run that was killed has left must not be measured.
    down(layout)
    try:
        yield _started(layout, sizes)
    finally:
        down(layout)


def _started(layout: Layout, sizes: Sizes) -> BenchCluster:
    audit = AuditLog(layout.root, NAMESPACE)
    inside = up_control_plane(
        layout,
        {
            "kube-apiserver": {"service-cluster-ip-range": _SERVICES, **audit.flags},
            "kube-controller-manager": _UNHURRIED,
            "kube-scheduler": _UNHURRIED,
        },
    )
    # All that is measured is in it: else it would have to share what one process of others gets.
    cgroups.prefer(layout.cgroup, _PROCESSES)
    pki = Pki(layout)
    kubectl = Kubectl(tool("kubectl"), layout.kubeconfig, NAMESPACE)
    with step(f"Make {sizes.nodes} fake nodes"):
        Daemons(layout).ensure(kwok(layout, inside))
        kubectl.apply(*fake_nodes(sizes.nodes, sizes.gpus_per_node))
        kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=120s")
        kubectl("apply", "--server-side", "-f", str(_CRD))
        kubectl.wait_established("-f", str(_CRD))
        kubectl("create", "namespace", NAMESPACE)
        run(inside.enter("ip", "route", "add", "local", POD_RANGE, "dev", "lo"))
    scrapes = layout.root / "scrapes.log"
    scrapes.touch()
    Daemons(layout).ensure(_stand_in(layout, inside, scrapes))
    return BenchCluster(
        layout,
        Trust(pki.cluster.files.certificate, pki.admin),
        audit,
        MeasuredOperator(layout, inside, kubectl),
        scrapes,
    )


def _stand_in(layout: Layout, inside: Namespaces, scrapes: Path) -> Daemon:
    program = Path(stand_in_replicas.__file__)
    return Daemon(
        name="stand-in-replicas",
        command=inside.enter(sys.executable, program, str(PORT), _METRICS, scrapes),
        cgroup=system_cgroup(layout, layout.control_plane),
        ready=lambda: None,
    )
