"""The base image, made from Debian's packages: no registry is assumed to be in reach."""

import shutil
import tempfile
from pathlib import Path

from e2e.images import buildah, progress

NAME = "debian:bookworm-slim"
SUITE = "bookworm"


def ensure(log: Path) -> None:
    """Make the image that the Dockerfile's FROM names, unless one of that name is here."""
    if buildah.exists(NAME):
        return
    root = Path(tempfile.mkdtemp(prefix="orthrus-base-", dir="/var/tmp"))
    try:
        command = [
            "debootstrap",
            "--variant=minbase",
            "--include=ca-certificates",
            SUITE,
            str(root),
        ]
        progress.run("base image", command, log)
        _take_sources(root)
        for downloads in ("var/cache/apt", "var/lib/apt/lists"):
            shutil.rmtree(root / downloads)
        container = buildah.output("from", "scratch")
        try:
            buildah.output("add", "--quiet", container, str(root), "/")
            buildah.output("config", "--cmd", "bash", container)
            buildah.output("commit", "--quiet", container, f"localhost/{NAME}")
        finally:
            buildah.output("rm", container)
    finally:
        shutil.rmtree(root)


def _take_sources(root: Path) -> None:
    """Let the image install Debian's security updates where this machine does."""
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    if sources.exists() and SUITE in sources.read_text():
        (root / "etc/apt/sources.list").unlink()
        shutil.copy(sources, root / sources.relative_to("/"))
