"""The buildah commands that the image builds share."""

import os
import shutil
import subprocess

from e2e.images.errors import ImageError


def require(*programs: str) -> None:
    """Raise ImageError unless this process may build images here."""
    if os.geteuid() != 0:
        raise ImageError("building images needs root (buildah runs without a user namespace here)")
    for program in ("buildah", *programs):
        if shutil.which(program) is None:
            raise ImageError(f"{program} is not installed: run `make deps`")


def output(*arguments: str) -> str:
    """What `buildah ARGUMENTS` prints. Raises ImageError with its last line when it fails."""
    done = subprocess.run(["buildah", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no output"]
        raise ImageError(f"buildah {arguments[0]}: {lines[-1]}")
    return done.stdout.strip()


def exists(reference: str) -> bool:
    """Whether an image of that name is in the local store."""
    command = ["buildah", "inspect", "--type", "image", reference]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
