"""`orthrus-operator run` as a process that has exactly the rights that it declares."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from e2e.kubectl import Kubectl
from e2e.operator_account import grant, operator_kubeconfig
from tests.orthrus_operator.cluster.connection import free_port
from tests.orthrus_operator.cluster.fault_proxy import FaultProxy

_COMMAND = Path(sys.executable).parent / "orthrus-operator"


class Operator:
    """The process, for the namespace of `kubectl`, behind a proxy that counts and disturbs."""

    def __init__(self, kubectl: Kubectl, folder: Path) -> None:
        self._kubectl = kubectl
        self.kubeconfig = folder / "kubeconfig"
        self._log = folder / "operator.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.metrics_port = free_port()
        grant(kubectl)
        config = operator_kubeconfig(kubectl)
        self.proxy = FaultProxy(config["clusters"][0]["cluster"])
        config["clusters"][0]["cluster"] = {"server": self.proxy.url}
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def start(self, **settings: str) -> None:
        """`settings` are further ORTHRUS_ variables; an empty value takes one away."""
        environment = os.environ | {
            "KUBECONFIG": str(self.kubeconfig),
            "ORTHRUS_NAMESPACES": self._kubectl.namespace,
            "ORTHRUS_SERVING_IMAGE_GPU": "registry.invalid/serving-gpu:1",
            "ORTHRUS_SERVING_IMAGE_CPU": "registry.invalid/serving-cpu:1",
            "ORTHRUS_PROMETHEUS_URL": "http://prometheus.invalid:9090",
            "ORTHRUS_RESYNC_SECONDS": "1",
            "ORTHRUS_LIVENESS_PORT": free_port(),
            "ORTHRUS_METRICS_PORT": self.metrics_port,
            **settings,
        }
        environment = {name: value for name, value in environment.items() if value}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(_COMMAND), "run"], env=environment, stdout=log, stderr=log
            )

    def stop(self) -> int:
        """Ends it as Kubernetes would; its exit status."""
        assert self._process
        self._process.terminate()
        return self._process.wait(timeout=90)

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def log(self) -> str:
        return self._log.read_text()
