"""The commands that the cluster is made of, and helm: built from Go modules."""

from pathlib import Path

from e2e.cluster.errors import ClusterError
from e2e.cluster.go_modules import Module

_FOLDER = Path(__file__).with_name("go")
_KUBERNETES = "1.34.4"
_HELM = "4.3.1"

MODULES = (
    Module(
        _FOLDER / "kubernetes",
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
        _FOLDER / "helm",
        ("helm.sh/helm/v4/cmd/helm",),
        (f"helm.sh/helm/v4/internal/version.version=v{_HELM}",),
    ),
    Module(_FOLDER / "coredns", ("./coredns",)),
    Module(_FOLDER / "fakegpu", ("./fake-gpu",)),
)


def tool(command: str) -> Path:
    """The path of `command`, built first if need be.

    Raises:
        ClusterError: no such command, or it cannot be built here.
    """
    for module in MODULES:
        if command in module.commands:
            return module.built() / command
    known = ", ".join(name for module in MODULES for name in module.commands)
    raise ClusterError(f"no tool is called {command!r}; there are: {known}")


def all_tools() -> dict[str, Path]:
    """Every command's path, all built."""
    built = {module: module.built() for module in MODULES}
    return {name: path / name for module, path in built.items() for name in module.commands}
