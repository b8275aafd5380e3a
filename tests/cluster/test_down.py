"""`down` leaves nothing behind, whatever state it finds."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.cluster import Cluster, cgroups
from e2e.cluster.down import down
from e2e.cluster.layout import Layout
from e2e.cluster.status import status

pytestmark = [pytest.mark.cluster, pytest.mark.long]
LAYOUT = Layout.of("test-down")
KINDS = ("net", "mnt", "pid", "ipc", "uts")
SETTINGS = ("vm.overcommit_memory", "kernel.panic", "net.ipv4.ip_forward")


def words(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def namespaces(pids: set[int]) -> set[str]:
    """Namespaces that these processes live in, other than our own."""
    found = set[str]()
    for pid in pids:
        for kind in KINDS:
            try:
                found.add(str(Path(f"/proc/{pid}/ns/{kind}").readlink()))
            except OSError:
                continue
    return found - {str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in KINDS}


def everyone() -> set[int]:
    pids = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}
    return {pid for pid in pids if not cgroups.is_zombie(pid)}


def traces() -> dict[str, set[str]]:
    """Everything on the host that a cluster could leave, but for what others do meanwhile."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    hierarchies = cgroups.hierarchies()
    return {
        "mounts": {line for line in mounts if "/containers/storage/" not in line},
        "interfaces": {line.split(":")[1] for line in words("ip", "-o", "link").splitlines()},
        "routes": set(words("ip", "route").splitlines()),
        "rules": set(words("iptables-save").splitlines()),
        "cgroups": {str(p) for h in hierarchies for p in h.glob(f"{LAYOUT.cgroup}*")},
        "settings": set(
            words("sysctl", "vm.overcommit_memory", "kernel.panic", "net.ipv4.ip_forward")
        ),
    }


@pytest.fixture
def cluster(start_private: Callable[[str], Cluster]) -> Cluster:
    return start_private(LAYOUT.name)


def test_down_leaves_nothing(start_private: Callable[[str], Cluster]) -> None:
    before = traces()
    start_private(LAYOUT.name)
    processes = cgroups.processes(LAYOUT.cgroup)
    owned = namespaces(processes)
    assert traces() != before
    assert len(processes) > 10
    assert len(owned) > 2

    down(LAYOUT)

    assert traces() == before
    assert not processes & everyone()
    assert not owned & namespaces(everyone())
    assert [path.name for path in LAYOUT.root.iterdir() if path.name != "node1"] == ["logs"]
    assert status(LAYOUT).problem == "it is down"


def test_down_needs_none_of_what_up_wrote(cluster: Cluster) -> None:
    processes = cgroups.processes(LAYOUT.cgroup)
    shutil.rmtree(LAYOUT.pids)
    (LAYOUT.root / "nodes").unlink()
    down(LAYOUT, keep_images=False)
    assert not processes & everyone()
    assert not traces()["cgroups"]
    assert [path.name for path in LAYOUT.root.iterdir()] == ["logs"]


def test_down_twice_is_fine() -> None:
    down(LAYOUT)
    down(LAYOUT)
