"""`orthrus-operator run` as a process that has exactly the rights that it declares."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from e2e.kubectl import Kubectl
from e2e.operator_account import grant, operator_kubeconfig
from e2e.waiting import wait_until
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
            "ORTHRUS_POLL_SECONDS": "1",
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

    @contextmanager
    def restarted(self, **settings: str) -> Iterator[list[int]]:
        """Inside the context it is started again when it ends, as the kubelet would do; the exit
        statuses so far."""
        ended: list[int] = []
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.1):
                assert self._process
                if (status := self._process.poll()) is not None:
                    ended.append(status)
                    self.start(**settings)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield ended
        finally:
            over.set()
            watcher.join()

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def wait_for_rest(self, seconds: float = 3) -> None:
        """Until for so long it has asked for no change of anything: not even for an event, or an
        apply that changes nothing."""
        count, since = len(self.proxy.writes()), time.monotonic()

        def rest() -> tuple[float, list[str]]:
            nonlocal count, since
            writes = self.proxy.writes()
            if len(writes) > count:
                count, since = len(writes), time.monotonic()
            return time.monotonic() - since, writes[-10:]

        wait_until("rest", rest, lambda seen: seen[0] > seconds, within=90, every=0.2)

    def log(self) -> str:
        return self._log.read_text()

    def forget_log(self) -> None:
        os.truncate(self._log, 0)
