"""The cluster's control groups: limits for its pods, and the one sure list of its processes.

Every process of a cluster is born in its cgroup tree, so that `down` finds all of them, orphans
included.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from e2e.cluster.waiting import wait_until

# cgroup v1 leaves these empty in a new child, and an empty cpuset takes no process.
_INHERITED = ("cpuset.cpus", "cpuset.mems")


def hierarchies() -> list[Path]:
    """Mount points of every cgroup hierarchy of this machine (v1 controllers, v2, or both)."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(mount[1]) for mount in mounts if mount[2] in {"cgroup", "cgroup2"}]


def create(name: str) -> None:
    """Make the cgroup `name` (a relative path) in every hierarchy."""
    for hierarchy in hierarchies():
        directory = hierarchy
        for part in Path(name).parts:
            _pass_controllers_on(directory)
            directory = directory / part
            directory.mkdir(exist_ok=True)
            for setting in _INHERITED:
                if (directory / setting).exists() and not (directory / setting).read_text().strip():
                    (directory / setting).write_text((directory.parent / setting).read_text())


def _pass_controllers_on(directory: Path) -> None:
    """cgroup v2: children have only the controllers that their parent names."""
    switch = directory / "cgroup.subtree_control"
    if switch.exists():
        for controller in (directory / "cgroup.controllers").read_text().split():
            switch.write_text(f"+{controller}")


def prefer(name: str, times: int) -> None:
    """Give all of the cgroup `name` together as much processor time as `times` others would get."""
    for hierarchy in hierarchies():
        for file, one in (("cpu.shares", 1024), ("cpu.weight", 100)):  # cgroup v1, v2
            if (hierarchy / name / file).exists():
                (hierarchy / name / file).write_text(str(times * one))


def entry_files(name: str) -> list[Path]:
    """Files that take the id of a process which is to move into the cgroup `name`."""
    return [hierarchy / name / "cgroup.procs" for hierarchy in hierarchies()]


def processes(name: str) -> set[int]:
    """Living processes in the cgroup `name` and below it, in any hierarchy."""
    found = set[int]()
    for hierarchy in hierarchies():
        for directory in _tree(hierarchy / name):
            with suppress(OSError):  # a pod's cgroup may go at any time, also while it is read
                found.update(int(pid) for pid in (directory / "cgroup.procs").read_text().split())
    return {pid for pid in found if not is_zombie(pid)}


def is_zombie(pid: int) -> bool:
    """Whether `pid` has ended (a zombie waits for its parent, and cannot be killed)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in {"Z", "X"}


def end(name: str) -> None:
    """End every process in the cgroup `name` and below, without mercy, and remove the cgroups.

    One that was on its way in while the others ended is ended too.

    Raises:
        ClusterError: processes are stuck in the kernel, or it keeps a cgroup busy.
    """
    wait_until(f"ending cgroup {name}", lambda: _living(name) or _busy(name), seconds=45)


def _living(name: str) -> str | None:
    """Kills the processes that live; which these were, if any."""
    alive = processes(name)
    for pid in alive:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return f"processes {sorted(alive)} live" if alive else None


def _busy(name: str) -> str | None:
    """Removes what can be removed; why the first cgroup cannot be, if any."""
    for hierarchy in hierarchies():
        for directory in _tree(hierarchy / name):
            try:
                directory.rmdir()
            except OSError as error:
                return str(error)
    return None


def _tree(directory: Path) -> Iterator[Path]:
    """The directory and those below it, children first."""
    if not directory.is_dir():
        return
    with suppress(FileNotFoundError):
        for child in [entry for entry in directory.iterdir() if entry.is_dir()]:
            yield from _tree(child)
    yield directory
