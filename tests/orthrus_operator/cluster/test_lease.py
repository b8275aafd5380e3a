"""One operator works at a time, whatever the clocks say."""

import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from e2e.kubectl import Kubectl
from e2e.waiting import wait_until
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.lease import LEASE_NAME, Lease, LeaseLostError, LeaseSettings
from tests.orthrus_operator.cluster.connection import connected, free_port
from tests.orthrus_operator.cluster.fault_proxy import Fault
from tests.orthrus_operator.cluster.operator_process import Operator

pytestmark = pytest.mark.cluster

QUICK = LeaseSettings(duration=2.0, deadline=1.0, period=0.2)


@dataclass(frozen=True)
class Started:
    """An operator's process."""

    process: subprocess.Popen[bytes]
    log: Path
    port: str
    """Of its liveness probe."""

    def wait_for_line(self, words: str) -> None:
        wait_until(words, self.log.read_text, lambda text: words in text, within=60, every=0.2)


@pytest.fixture
async def api(operator: Operator) -> AsyncIterator[Api]:
    """With the operator's rights, through its proxy."""
    async with connected(operator.kubeconfig) as api:
        yield api


@pytest.fixture
def home(kubectl: Kubectl) -> str:
    """The namespace, without the Lease of an earlier test."""
    kubectl("delete", "lease", LEASE_NAME, "--ignore-not-found")
    return kubectl.namespace


def holder(kubectl: Kubectl) -> str | None:
    lease = kubectl.get("lease", LEASE_NAME)
    found: str | None = lease["spec"].get("holderIdentity") if lease else None
    return found


async def test_the_second_waits_until_the_first_gives_it_back(
    api: Api, kubectl: Kubectl, home: str
) -> None:
    first, second = Lease(api, home, "first", QUICK), Lease(api, home, "second", QUICK)
    await first.acquire()
    assert holder(kubectl) == "first"
    assert await second.try_to_hold() == "first"
    await first.release()
    assert holder(kubectl) is None
    await second.acquire()
    assert holder(kubectl) == "second"
    await first.release()  # It isn't the first one's any more.
    assert holder(kubectl) == "second"


async def test_one_that_died_is_followed_after_the_lease_stood_still(api: Api, home: str) -> None:
    await Lease(api, home, "dead", QUICK).acquire()
    start = time.monotonic()
    await Lease(api, home, "next", QUICK).acquire()
    assert time.monotonic() - start >= QUICK.duration


async def test_the_clock_of_another_holder_does_not_matter(
    api: Api, kubectl: Kubectl, home: str
) -> None:
    """A holder in a time zone that writes its local time as UTC, the way kubernetes.aio does."""
    await Lease(api, home, "elsewhere", QUICK).acquire()
    for stamp in ("2020-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"):
        patch = {"spec": {"renewTime": stamp, "holderIdentity": "elsewhere"}}
        kubectl("patch", "lease", LEASE_NAME, "--type=merge", "-p", json.dumps(patch))
        waiting = Lease(api, home, "here", QUICK)
        assert await waiting.try_to_hold() == "elsewhere"
    start = time.monotonic()
    await waiting.acquire()
    assert time.monotonic() - start < 4 * QUICK.duration


async def test_a_lease_that_someone_took_ends_the_holder(
    api: Api, kubectl: Kubectl, home: str
) -> None:
    patient = replace(QUICK, duration=40.0, deadline=20.0)
    lease = Lease(api, home, "first", patient)
    await lease.acquire()
    patch = json.dumps({"spec": {"holderIdentity": "thief"}})
    kubectl("patch", "lease", LEASE_NAME, "--type=merge", "-p", patch)
    with pytest.raises(LeaseLostError, match="thief"):
        await lease.keep()


async def test_a_holder_that_cannot_renew_ends_before_another_may_start(
    api: Api, operator: Operator, home: str
) -> None:
    lease = Lease(api, home, "first", QUICK)
    await lease.acquire()
    start = time.monotonic()
    fault = Fault("/leases/", 503)
    with operator.proxy.fault(fault), pytest.raises(LeaseLostError, match="in time"):
        await lease.keep()
    assert time.monotonic() - start < QUICK.duration


def test_times_are_written_in_utc_wherever_the_operator_runs(kubectl: Kubectl, home: str) -> None:
    """In a process of its own: the time zone is the process's."""
    code = (
        "import asyncio, sys\n"
        "from orthrus_operator.reconciler.client import Api\n"
        "from orthrus_operator.reconciler.lease import Lease\n"
        "async def hold():\n"
        "    api = await Api.connect()\n"
        f"    await Lease(api, {home!r}, 'far away').acquire()\n"
        "    await api.close()\n"
        "asyncio.run(hold())\n"
    )
    environment = os.environ | {"TZ": "Asia/Tokyo", "KUBECONFIG": str(kubectl.kubeconfig)}
    now = time.time()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    lease = kubectl.get("lease", LEASE_NAME)
    assert lease
    written = lease["spec"]["renewTime"]
    assert abs(datetime.fromisoformat(written).timestamp() - now) < 60, written


@pytest.fixture
def start(kubectl: Kubectl, home: str, tmp_path: Path) -> Iterator[Callable[[], Started]]:
    """Starts operators that want the Lease of `home`, and serve no namespace that exists."""
    started: list[Started] = []

    def start_one() -> Started:
        path, port = tmp_path / f"{len(started)}.log", free_port()
        environment = os.environ | {
            "KUBECONFIG": str(kubectl.kubeconfig),
            "ORTHRUS_NAMESPACES": f"no-such-{uuid.uuid4().hex[:8]}",
            "ORTHRUS_LEASE_NAMESPACE": home,
            "ORTHRUS_LIVENESS_PORT": port,
            "ORTHRUS_METRICS_PORT": free_port(),
        }
        command = [str(Path(sys.executable).parent / "orthrus-operator"), "run"]
        with path.open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        started.append(Started(process, path, port))
        return started[-1]

    yield start_one
    for each in started:
        each.process.kill()
        each.process.wait()


def test_a_second_operator_waits_and_answers_its_probe(
    kubectl: Kubectl, start: Callable[[], Started]
) -> None:
    first = start()
    first.wait_for_line("holding the lease")
    second = start()
    second.wait_for_line("waiting for the lease")
    assert health(second.port) == "waiting for the lease"
    assert holder(kubectl) == f"{os.uname().nodename}-{first.process.pid}"
    first.process.terminate()
    assert first.process.wait(timeout=30) == 0
    second.wait_for_line("holding the lease")
    assert second.process.poll() is None


def test_sigterm_ends_an_operator_that_waits(start: Callable[[], Started]) -> None:
    """Not by the signal's default, which a container's first process has not."""
    first = start()
    first.wait_for_line("holding the lease")
    second = start()
    second.wait_for_line("waiting for the lease")
    second.process.terminate()
    assert second.process.wait(timeout=10) == 0


def test_an_operator_whose_lease_is_taken_ends(
    kubectl: Kubectl, start: Callable[[], Started]
) -> None:
    first = start()
    first.wait_for_line("holding the lease")
    patch = json.dumps({"spec": {"holderIdentity": "thief"}})
    kubectl("patch", "lease", LEASE_NAME, "--type=merge", "-p", patch)
    assert first.process.wait(timeout=30) == 1
    assert "thief holds the lease" in first.log.read_text()
    assert holder(kubectl) == "thief"


def health(port: str) -> str:
    url = f"http://127.0.0.1:{port}/healthz"
    with urllib.request.urlopen(url, timeout=5) as answer:
        body: bytes = answer.read()
    return body.decode()
