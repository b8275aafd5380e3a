"""Go modules with pinned versions, built into the cache under a key of their inputs."""

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from e2e.cache import cache_dir
from e2e.cluster.commands import run
from e2e.cluster.errors import ClusterError
from e2e.cluster.locking import locked
from e2e.cluster.progress import Step, step

_UNREACHABLE = ("dial tcp", "no such host", "i/o timeout", "connection refused", "proxyconnect")


@dataclass(frozen=True)
class Module:
    """A folder with `go.mod` and `go.sum`, and the commands that are built from it."""

    folder: Path
    packages: tuple[str, ...]
    """Their last path elements are the commands' names."""
    stamps: tuple[str, ...] = ()
    """Linker variables: `package.name=value`."""
    tags: tuple[str, ...] = ()
    """Build constraints."""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(package.rpartition("/")[2] for package in self.packages)

    @property
    def linker_flags(self) -> str:
        return " ".join(("-s", "-w", *(f"-X {stamp}" for stamp in self.stamps)))

    @property
    def directory(self) -> Path:
        """Where its commands are once they are built."""
        return cache_dir() / "bin" / f"{self.name}-{self._key()}"

    def built(self) -> Path:
        """The directory with its commands, built first if need be.

        Raises:
            ClusterError: they cannot be built here.
        """
        directory = self.directory
        if directory.exists():
            return directory
        directory.parent.mkdir(parents=True, exist_ok=True)
        with locked(directory.parent / f"{self.name}.lock", f"the build of {self.name}"):
            if not directory.exists():
                with step(f"Build {', '.join(self.commands)}") as running:
                    self._build(directory, running)
        return directory

    def source(self, path: str) -> Path:
        """The folder of the source of `path`, a module that this one requires.

        Raises:
            ClusterError: it cannot be downloaded.
        """
        download = ("mod", "download", "-json", path)
        return Path(json.loads(run([_go(), "-C", self.folder, *download]))["Dir"])

    def _build(self, directory: Path, running: Step) -> None:
        partial = directory.with_name(f"{directory.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        log = directory.with_name(f"{self.name}.log")
        flags = ("-mod=readonly", "-buildvcs=false", "-v", "-ldflags", self.linker_flags)
        building = subprocess.Popen(
            [_go(), "build", *flags, *self._tag_flags, "-o", f"{partial}/", *self.packages],
            cwd=self.folder,
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert building.stdout is not None, "asked for a pipe"
        last = ""
        with log.open("w") as kept:
            for line in building.stdout:
                kept.write(line)
                last = line.strip()
                running.note(last)
        running.note("")
        if building.wait():
            if any(sign in last for sign in _UNREACHABLE):
                raise ClusterError(
                    f"cannot download Go modules, is the module proxy reachable? {last}"
                )
            raise ClusterError(f"building {self.name} failed: {last} (whole log: {log})")
        partial.rename(directory)

    @property
    def _tag_flags(self) -> tuple[str, ...]:
        return ("-tags", ",".join(self.tags)) if self.tags else ()

    def _key(self) -> str:
        digest = hashlib.sha256(" ".join((self.linker_flags, *self._tag_flags)).encode())
        digest.update(run([_go(), "env", "GOVERSION", "GOARCH"]).encode())
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:12]


def _go() -> str:
    found = shutil.which("go")
    if found is None:
        raise ClusterError("go is missing: install Go 1.26 or newer and have it in PATH")
    return found
