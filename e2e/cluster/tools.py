"""Commands built from Go modules into the cache, keyed by everything that they are made of."""

import hashlib
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

_MODULES = Path(__file__).with_name("go")
_KUBERNETES = "1.34.4"
_HELM = "4.3.1"
_UNREACHABLE = ("dial tcp", "no such host", "i/o timeout", "connection refused", "proxyconnect")


@dataclass(frozen=True)
class Module:
    """One Go module of `go/` with a pinned `go.mod`, and the commands that are built from it."""

    name: str
    packages: tuple[str, ...]
    """Their last path elements are the commands' names."""
    stamps: tuple[str, ...] = ()
    """Linker variables: `package.name=value`."""

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(package.rpartition("/")[2] for package in self.packages)

    @property
    def linker_flags(self) -> str:
        return " ".join(("-s", "-w", *(f"-X {stamp}" for stamp in self.stamps)))


MODULES = (
    Module(
        "kubernetes",
        (
            *(f"k8s.io/kubernetes/cmd/kube-{part}" for part in ("apiserver", "controller-manager")),
            *(f"k8s.io/kubernetes/cmd/kube-{part}" for part in ("scheduler", "proxy")),
            "k8s.io/kubernetes/cmd/kubelet",
            "k8s.io/kubernetes/cmd/kubectl",
        ),
        (
            f"k8s.io/component-base/version.gitVersion=v{_KUBERNETES}",
            f"k8s.io/component-base/version.gitMajor={_KUBERNETES.split('.', maxsplit=1)[0]}",
            f"k8s.io/component-base/version.gitMinor={_KUBERNETES.split('.')[1]}",
        ),
    ),
    Module(
        "helm",
        ("helm.sh/helm/v4/cmd/helm",),
        (f"helm.sh/helm/v4/internal/version.version=v{_HELM}",),
    ),
    Module("coredns", ("./coredns",)),
    Module("fakegpu", ("./fake-gpu",)),
)


def tool(command: str) -> Path:
    """The path of `command`, built first if need be.

    Raises:
        ClusterError: no such command, or it cannot be built here.
    """
    for module in MODULES:
        if command in module.commands:
            return _built(module) / command
    known = ", ".join(name for module in MODULES for name in module.commands)
    raise ClusterError(f"no tool is called {command!r}; there are: {known}")


def all_tools() -> dict[str, Path]:
    """Every command's path, all built."""
    built = {module: _built(module) for module in MODULES}
    return {name: path / name for module, path in built.items() for name in module.commands}


def _built(module: Module) -> Path:
    """The directory with the module's commands."""
    directory = cache_dir() / "bin" / f"{module.name}-{_key(module)}"
    if directory.exists():
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    with locked(directory.parent / f"{module.name}.lock", f"the build of {module.name}"):
        if not directory.exists():
            with step(f"Build {', '.join(module.commands)}") as running:
                _build(module, directory, running)
    return directory


def _build(module: Module, directory: Path, running: Step) -> None:
    partial = directory.with_name(f"{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    log = directory.with_name(f"{module.name}.log")
    flags = ("-mod=readonly", "-buildvcs=false", "-v", "-ldflags", module.linker_flags)
    building = subprocess.Popen(
        [_go(), "build", *flags, "-o", f"{partial}/", *module.packages],
        cwd=_MODULES / module.name,
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
            raise ClusterError(f"cannot download Go modules, is the module proxy reachable? {last}")
        raise ClusterError(f"building {module.name} failed: {last} (whole log: {log})")
    partial.rename(directory)


def _go() -> str:
    found = shutil.which("go")
    if found is None:
        raise ClusterError("go is missing: install Go 1.26 or newer and have it in PATH")
    return found


def _key(module: Module) -> str:
    digest = hashlib.sha256(module.linker_flags.encode())
    digest.update(run([_go(), "env", "GOVERSION", "GOARCH"]).encode())
    for path in sorted((_MODULES / module.name).rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]
