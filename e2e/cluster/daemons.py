"""Long-running components: found again by later commands, restarted when their settings change."""

import datetime
import hashlib
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster import cgroups
from e2e.cluster.commands import run
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Layout
from e2e.cluster.waiting import wait_until

_LOG_LIMIT_BYTES = 20 * 1024 * 1024
_LOG_LINES_SHOWN = 15
# The shell ends at once, so the daemon is nobody's child but init's, which also buries it.
# Argument 0: the log file; the rest: the command.
_DETACH = 'env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin setsid "$@" </dev/null >>"$0" 2>&1 & echo $!'
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Daemon:
    """One component: what to run, in which cgroup, and how to tell that it works."""

    name: str
    command: tuple[str, ...]
    cgroup: str
    ready: Callable[[], str | None]
    """None when it works, else the state seen."""
    inputs: tuple[Path, ...] = ()
    """Files whose content it reads at start only."""
    seconds: float = 120

    def fingerprint(self) -> str:
        """Changes when the daemon must be restarted to follow its settings."""
        digest = hashlib.sha256("\0".join((*self.command, self.cgroup)).encode())
        for path in self.inputs:
            digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Record:
    """What a pid file holds: enough to know the process again after any crash or reboot."""

    pid: int
    started: str
    fingerprint: str


class Daemons:
    """The components of one cluster, as its pid files tell."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._layout.pids.glob("*.json"))

    def pid(self, name: str) -> int | None:
        """The process of the daemon `name`, or None when it is not alive."""
        record = self._record(name)
        alive = record is not None and _started(record.pid) == record.started != ""
        return record.pid if record and alive else None

    def started_at(self, name: str) -> datetime.datetime:
        """When the daemon `name` was last started, to the second below."""
        written = (self._layout.pids / f"{name}.json").stat().st_mtime
        return datetime.datetime.fromtimestamp(int(written), datetime.UTC)

    def runs(self, daemon: Daemon) -> bool:
        """Whether `daemon` is alive, with these settings."""
        record = self._record(daemon.name)
        alive = self.pid(daemon.name) is not None
        return alive and record is not None and record.fingerprint == daemon.fingerprint()

    def ensure(self, daemon: Daemon) -> bool:
        """Have `daemon` run with these settings, and work. True when it had to be started.

        Raises:
            ClusterError: it ended, or did not work in time; the message ends with its log.
        """
        current = self.runs(daemon)
        if not current:
            self.stop(daemon.name)
            self._start(daemon)

        def state() -> str | None:
            if self.pid(daemon.name) is None:
                raise ClusterError(f"{daemon.name} ended at once")
            return daemon.ready()

        try:
            wait_until(f"{daemon.name} works", state, daemon.seconds)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{self.log_tail(daemon.name)}") from None
        return not current

    def stop(self, name: str) -> None:
        """End the daemon `name`: SIGTERM, and SIGKILL when it does not listen."""
        self._signal(name, signal.SIGTERM)
        try:
            self._wait_for_end(name, seconds=10)
        except ClusterError:
            self._signal(name, signal.SIGKILL)
            self._wait_for_end(name, seconds=10)
        (self._layout.pids / f"{name}.json").unlink(missing_ok=True)

    def _signal(self, name: str, number: signal.Signals) -> None:
        pid = self.pid(name)
        if pid is not None:
            os.kill(pid, number)

    def _wait_for_end(self, name: str, seconds: float) -> None:
        wait_until(f"{name} ends", lambda: "it lives" if self.pid(name) else None, seconds)

    def log(self, name: str) -> Path:
        return self._layout.logs / f"{name}.log"

    def log_tail(self, name: str) -> str:
        """The last lines of a component's log, each indented."""
        if not self.log(name).exists():
            return f"  ({self.log(name)}: nothing logged)"
        lines = self.log(name).read_text(errors="replace").splitlines()[-_LOG_LINES_SHOWN:]
        return "\n".join([f"  last lines of {self.log(name)}:", *(f"  | {line}" for line in lines)])

    def _start(self, daemon: Daemon) -> None:
        self._layout.logs.mkdir(parents=True, exist_ok=True)
        self._layout.pids.mkdir(parents=True, exist_ok=True)
        cgroups.create(daemon.cgroup)
        log = self.log(daemon.name)
        if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
            log.rename(log.with_suffix(".log.old"))
        # It moves itself before it becomes the daemon, so that nothing it forks is born outside.
        enter = "".join(f"echo $$ > {file}; " for file in cgroups.entry_files(daemon.cgroup))
        become = f'set -e; {enter}exec "$@"'
        started = run(["sh", "-c", _DETACH, log, "sh", "-c", become, "sh", *daemon.command])
        pid = int(started)
        record = {"pid": pid, "started": _started(pid), "fingerprint": daemon.fingerprint()}
        (self._layout.pids / f"{daemon.name}.json").write_text(json.dumps(record))

    def _record(self, name: str) -> Record | None:
        try:
            return Record(**json.loads((self._layout.pids / f"{name}.json").read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None


def _started(pid: int) -> str:
    """Tells a process from a later one with the same id; empty when it has ended."""
    if cgroups.is_zombie(pid):
        return ""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return f"{_BOOT.read_text().strip()} {fields[19]}"
