"""A component is started once, known again later, and shows its log when it fails."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.cluster import ClusterError, cgroups
from e2e.cluster.daemons import Daemon, Daemons
from e2e.cluster.layout import Layout
from e2e.cluster.requirements import check_node_requirements
from e2e.waiting import wait_until

pytestmark = pytest.mark.cluster


@pytest.fixture
def layout(tmp_path: Path) -> Iterator[Layout]:
    """A cluster directory without a cluster."""
    check_node_requirements()
    made = Layout(name="test-daemons", index=0, root=tmp_path)
    yield made
    cgroups.end(made.cgroup)


def sleeper(layout: Layout, seconds: str = "600") -> Daemon:
    return Daemon("sleeper", ("sleep", seconds), f"{layout.cgroup}/system", ready=lambda: None)


def test_a_running_daemon_is_left_alone(layout: Layout) -> None:
    assert Daemons(layout).ensure(sleeper(layout))
    pid = Daemons(layout).pid("sleeper")
    assert not Daemons(layout).ensure(sleeper(layout))
    assert Daemons(layout).pid("sleeper") == pid


def test_other_settings_start_it_again(layout: Layout) -> None:
    daemons = Daemons(layout)
    daemons.ensure(sleeper(layout))
    pid = daemons.pid("sleeper")
    assert daemons.ensure(sleeper(layout, "601"))
    assert daemons.pid("sleeper") not in {pid, None}


def test_a_pid_file_that_names_a_stranger_is_not_believed(layout: Layout) -> None:
    layout.pids.mkdir()
    record = {"pid": os.getpid(), "started": "another boot 1", "fingerprint": ""}
    (layout.pids / "sleeper.json").write_text(json.dumps(record))
    assert Daemons(layout).pid("sleeper") is None
    assert Daemons(layout).ensure(sleeper(layout))


def test_one_that_ends_at_once_shows_what_it_said(layout: Layout) -> None:
    broken = Daemon(
        name="broken",
        command=("sh", "-c", "echo 'no such flag'; exit 3"),
        cgroup=f"{layout.cgroup}/system",
        ready=lambda: "not yet",
    )
    with pytest.raises(ClusterError, match=r"broken ended at once[\s\S]*\| no such flag"):
        Daemons(layout).ensure(broken)


def test_one_that_never_works_shows_the_state_seen_last(layout: Layout) -> None:
    stuck = Daemon(
        name="stuck",
        command=("sh", "-c", "echo waiting for a lock; exec sleep 600"),
        cgroup=f"{layout.cgroup}/system",
        ready=lambda: "port is closed",
        seconds=0.5,
    )
    with pytest.raises(ClusterError, match=r"seen: port is closed[\s\S]*\| waiting for a lock"):
        Daemons(layout).ensure(stuck)


def test_a_process_that_is_still_on_its_way_in_is_ended_too(layout: Layout) -> None:
    """As when a cluster is taken down while one of its components starts."""
    cgroup = f"{layout.cgroup}/system"
    cgroups.create(cgroup)
    enter = "".join(f"echo $$ > {file}; " for file in cgroups.entry_files(cgroup))
    late = subprocess.Popen(["sh", "-c", f"set -e; sleep 0.2; {enter} exec sleep 600"])
    resident = subprocess.Popen(["sh", "-c", f"{enter} exec sleep 600"])
    wait_until("resident", lambda: cgroups.processes(cgroup), bool, within=10)

    cgroups.end(layout.cgroup)

    assert resident.wait(10) == -signal.SIGKILL
    assert late.wait(10) != 0
    assert not cgroups.processes(layout.cgroup)
