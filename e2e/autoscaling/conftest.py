"""What all tests of metrics and scaling share: Prometheus and its adapter, and one replica."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Installation
from e2e.kubectl import Kubectl
from e2e.monitoring.parts import Monitoring
from e2e.monitoring.prometheus import Prometheus
from e2e.readiness import is_ready
from e2e.sample import NAME, OF_REPLICA, apply_sample
from e2e.waiting import wait_until

Apply = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="package")
def kubectl(installation: Installation) -> Kubectl:
    return installation.kubectl


@pytest.fixture(scope="package")
def monitoring(installation: Installation) -> Iterator[Monitoring]:
    parts = Monitoring(installation.cluster)
    parts.start()
    yield parts
    parts.stop()


@pytest.fixture(scope="package")
def prometheus(monitoring: Monitoring) -> Prometheus:
    return monitoring.prometheus


@pytest.fixture(scope="package")
def replica(kubectl: Kubectl, model: Path) -> Iterator[Apply]:
    """The sample, with one ready replica. Applies it again with further fields of its spec."""

    def apply(changes: dict[str, Any]) -> None:
        apply_sample(kubectl, model, changes)
        wait_until(
            "one ready replica of this spec",
            lambda: kubectl.get("orth", NAME) or {},
            lambda seen: is_ready(seen) and seen["status"].get("readyReplicas") == 1,
            within=900,
        )

    apply({})
    yield apply
    kubectl("delete", "orth", NAME)
    # The next test that applies the sample starts from nothing, as a user does.
    wait_until(
        "no replica", lambda: kubectl.list("pods", OF_REPLICA), lambda left: not left, within=200
    )
