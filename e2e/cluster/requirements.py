"""What the machine must have; a command that cannot work says so in one line at once."""

import os
import shutil
import sys
from pathlib import Path

from e2e.cache import cache_dir
from e2e.cluster.commands import system_path
from e2e.cluster.errors import ClusterError

PACKAGES = Path(__file__).with_name("debian-packages.txt")

# What is looked for, and the Debian package that has it.
NODE_FILES = {
    "etcd": "etcd-server",
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "/usr/lib/cni/ptp": "containernetworking-plugins",
    "/usr/lib/cni/host-local": "containernetworking-plugins",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "/bin/busybox": "busybox-static",
}
IMAGE_FILES = {"buildah": "buildah", "containers-storage": "containers-storage"}

# A node sees its own directories there, so what the host keeps in them is out of its sight.
_HIDDEN = (Path("/run"), Path("/var/lib"), Path("/var/log"))


def check_node_requirements() -> None:
    """Whether this machine can run nodes.

    Raises:
        ClusterError: the first thing that is missing, and how to get it.
    """
    if not sys.platform.startswith("linux"):
        raise ClusterError("the local cluster needs Linux; set KUBECONFIG to use another cluster")
    if os.geteuid() != 0:
        raise ClusterError(
            "the local cluster needs root (namespaces, cgroups, mounts): run as root, or set "
            "KUBECONFIG to use another cluster"
        )
    check_files(NODE_FILES)
    for hidden in _HIDDEN:
        if cache_dir().is_relative_to(hidden):
            raise ClusterError(
                f"ORTHRUS_CACHE is {cache_dir()}: choose a directory outside {hidden}"
            )


def check_files(files: dict[str, str]) -> None:
    """Whether every command or file is there.

    Raises:
        ClusterError: some are not; the message names their Debian packages.
    """
    missing = {name: package for name, package in files.items() if not _exists(name)}
    if missing:
        packages = " ".join(sorted(set(missing.values())))
        raise ClusterError(
            f"missing: {', '.join(missing)}. On Debian, as root: "
            f"apt-get install --no-install-recommends {packages}"
        )


def _exists(name: str) -> bool:
    if name.startswith("/"):
        return Path(name).exists()
    return shutil.which(name, path=system_path()) is not None
