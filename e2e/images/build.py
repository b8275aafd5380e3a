"""Builds one image, unless the store has it already."""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cache import cache_dir
from e2e.images import base, buildah, progress
from e2e.images.errors import ImageError
from e2e.images.reference import REPOSITORY, Recipe, is_executable, recipe

ROOT = Path(__file__).parent.parent.parent
_PASSING = "sealing memfd copy: Device or resource busy"
"""buildah copies itself into memory before it enters a container; the kernel, at times, refuses."""


def build(name: str) -> str:
    """Build image `name` from this tree and return its reference.

    Raises ImageError, in one line, when something is missing or a step fails.
    """
    wanted = recipe(ROOT, name)
    buildah.require("debootstrap")
    with _lock():
        if buildah.exists(wanted.reference):
            print(f"[{name}] up to date: {wanted.reference}", flush=True)
            return wanted.reference
        logs = cache_dir() / "logs"
        base.ensure(logs / "image-base.log")
        with _context(wanted) as context:
            command = ["buildah", "build", *_options(), "--tag", wanted.reference, str(context)]
            _run(name, command, logs / f"image-{name}.log")
        _tidy(wanted)
    print(f"[{name}] built: {wanted.reference}", flush=True)
    return wanted.reference


def _run(name: str, command: list[str], log: Path) -> None:
    try:
        progress.run(name, command, log)
    except ImageError:
        if _PASSING not in log.read_text():
            raise
        progress.run(name, command, log)  # the layers that were done are taken from the store


def _options() -> list[str]:
    """What a build needs on this machine and the Dockerfile must not know."""
    certificates = "/etc/ssl/certs"
    settings = Path(__file__).parent / "uv.toml"
    packages = Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")
    packages.mkdir(parents=True, exist_ok=True)
    return [
        "--layers",
        "--pull-never",
        "--isolation=chroot",
        "--network=host",
        f"--volume={certificates}:{certificates}:O",
        f"--volume={settings}:/etc/uv/uv.toml:ro",
        # In place of the Dockerfile's cache mount: the developers' environment filled it already.
        f"--volume={packages}:/root/.cache/uv",
    ]


@contextmanager
def _context(wanted: Recipe) -> Iterator[Path]:
    """A build context that holds the hashed files and no others, whatever others edit meanwhile."""
    with tempfile.TemporaryDirectory(prefix="orthrus-context-") as folder:
        context = Path(folder)
        (context / "Dockerfile").write_text(wanted.dockerfile)
        for file in wanted.files:
            copy = context / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, copy)
            copy.chmod(0o755 if is_executable(ROOT / file) else 0o644)
        yield context


def _tidy(built: Recipe) -> None:
    """Remove the images that `built` replaces, and the layers that no image needs any more."""
    images = json.loads(buildah.output("images", "--json", "--filter", f"reference={REPOSITORY}/*"))
    names = {name for image in images for name in image["names"]}
    for name in names - {built.reference}:
        if name.startswith(f"{REPOSITORY}/{built.name}:"):
            buildah.output("rmi", name)
    buildah.output("rmi", "--prune", "--force")


@contextmanager
def _lock() -> Iterator[None]:
    """One build at a time on this machine."""
    path = cache_dir() / "images.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
