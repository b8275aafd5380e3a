"""The cluster's own two images, made from static binaries: no registry is asked for anything."""

import hashlib
import json
import platform
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster.errors import ClusterError
from e2e.cluster.tar_files import tar, tar_files
from e2e.cluster.tools import tool

_BUSYBOX = Path("/bin/busybox")


@dataclass(frozen=True)
class StaticImage:
    """An image with one static binary, named after its content."""

    name: str
    binary: Path
    entry_point: tuple[str, ...]
    links: tuple[str, ...] = ()
    """Other names of the binary, in its own directory."""

    @property
    def reference(self) -> str:
        digest = hashlib.sha256(repr((self.entry_point, self.links)).encode())
        digest.update(self.binary.read_bytes())
        return f"localhost/orthrus-cluster/{self.name}:{digest.hexdigest()[:12]}"

    def archive(self) -> bytes:
        """The image in the format of `docker save`."""
        layer = self._layer()
        diff_id = hashlib.sha256(layer).hexdigest()
        config = json.dumps(
            {
                "architecture": _architecture(),
                "os": "linux",
                "config": {"Entrypoint": self.entry_point, "Env": ["PATH=/bin"]},
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff_id}"]},
            }
        ).encode()
        manifest = [
            {"Config": "config.json", "RepoTags": [self.reference], "Layers": ["layer.tar"]}
        ]
        files = {
            "layer.tar": layer,
            "config.json": config,
            "manifest.json": json.dumps(manifest).encode(),
        }
        return tar_files(files)

    def _layer(self) -> bytes:
        members = [(_directory("bin"), b""), (_directory("tmp", 0o1777), b"")]
        binary = tarfile.TarInfo(f"bin/{self.name}")
        binary.mode = 0o755
        members.append((binary, self.binary.read_bytes()))
        for name in self.links:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type = tarfile.SYMTYPE
            link.linkname = self.name
            members.append((link, b""))
        return tar(members)


def busybox() -> StaticImage:
    """Holds pods' namespaces open (it sleeps), and is the shell that tests run in pods.

    Raises:
        ClusterError: there is no busybox on this machine.
    """
    if not _BUSYBOX.exists():
        raise ClusterError(f"{_BUSYBOX} is missing: install busybox-static")
    listed = subprocess.run([_BUSYBOX, "--list"], capture_output=True, text=True, check=True)
    applets = tuple(name for name in listed.stdout.split() if name != "busybox")
    return StaticImage("busybox", _BUSYBOX, ("/bin/busybox", "sleep", "infinity"), applets)


def coredns() -> StaticImage:
    return StaticImage("coredns", tool("coredns"), ("/bin/coredns",))


def _directory(name: str, mode: int = 0o755) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    info.mode = mode
    return info


def _architecture() -> str:
    """This machine, as Go and container images call it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
