"""`orthrus-operator run` as a process under measurement."""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

import psutil

from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import Namespaces, system_cgroup
from e2e.cluster.probes import http_probe
from e2e.kubectl import Kubectl
from e2e.operator_account import grant, operator_kubeconfig

_NAME = "operator"
_LIVENESS_PORT, _METRICS_PORT = 8080, 8081


class MeasuredOperator:
    """Serves the namespace of `kubectl`, with its default settings; runs in the cluster's network,
    where the fake pods' addresses are."""

    def __init__(self, layout: Layout, inside: Namespaces, kubectl: Kubectl) -> None:
        self._daemons = Daemons(layout)
        self._address = layout.control_plane.address
        self._highest_kb = 0
        grant(kubectl)
        kubeconfig = layout.root / "operator.kubeconfig"
        kubeconfig.write_text(json.dumps(operator_kubeconfig(kubectl)))
        settings = {
            "KUBECONFIG": kubeconfig,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "ORTHRUS_NAMESPACES": kubectl.namespace,
            "ORTHRUS_LEASE_NAMESPACE": kubectl.namespace,
            "ORTHRUS_SERVING_IMAGE_GPU": "registry.invalid/serving-gpu:1",
            "ORTHRUS_LIVENESS_PORT": _LIVENESS_PORT,
            "ORTHRUS_METRICS_PORT": _METRICS_PORT,
        }
        variables = (f"{name}={value}" for name, value in settings.items())
        program = Path(sys.executable).with_name("orthrus-operator")
        self._daemon = Daemon(
            name=_NAME,
            command=inside.enter("env", *variables, program, "run"),
            cgroup=system_cgroup(layout, layout.control_plane),
            ready=http_probe(self._address, _LIVENESS_PORT, "/healthz"),
        )

    def start(self) -> float:
        """Until it answers; the time (`time.monotonic`) just before."""
        before = time.monotonic()
        self._daemons.ensure(self._daemon)
        return before

    def stop(self) -> None:
        self._highest_kb = self._peak_kb()
        self._daemons.stop(_NAME)

    def highest_memory_mb(self) -> float:
        """Most resident memory, in 10^6 bytes, of any of its processes so far."""
        return self._peak_kb() * 1024 / 1e6

    def memory_mb(self) -> float:
        """Resident now."""
        return float(self._process().memory_info().rss) / 1e6

    def cpu_seconds(self) -> float:
        """Of the process that runs, since its start."""
        times = self._process().cpu_times()
        return float(times.user + times.system)

    def replicas(self, name: str, state: str) -> int:
        """`orthrus_deployment_replicas` of one object, as it shows it to Prometheus."""
        url = f"http://{self._address}:{_METRICS_PORT}/metrics"
        with urllib.request.urlopen(url) as answer:
            lines = answer.read().decode().splitlines()
        labels = (f'name="{name}"', f'state="{state}"')
        found = (
            float(line.rpartition(" ")[2])
            for line in lines
            if line.startswith("orthrus_deployment_replicas{") and all(x in line for x in labels)
        )
        return int(next(found, 0))

    def _peak_kb(self) -> int:
        status = Path(f"/proc/{self._process().pid}/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        return max(self._highest_kb, int(peak))

    def _process(self) -> psutil.Process:
        pid = self._daemons.pid(_NAME)
        assert pid is not None, "the operator ended"
        return psutil.Process(pid)
