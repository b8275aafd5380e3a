"""An image's reference: its name and a hash of exactly what goes into it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from e2e.images import dockerfile
from e2e.images.errors import ImageError

NAMES = ("operator", "serving-cpu", "serving-gpu")
REPOSITORY = "localhost/orthrus"


@dataclass(frozen=True)
class Recipe:
    """How one image is made: its stages, and the files they copy (relative to the root)."""

    name: str
    stages: tuple[dockerfile.Stage, ...]
    files: tuple[Path, ...]
    reference: str

    @property
    def dockerfile(self) -> str:
        """The part of the Dockerfile that this image needs: buildah builds every stage it reads."""
        return "".join(stage.text for stage in self.stages)


def recipe(root: Path, name: str) -> Recipe:
    """Read what `name` is made of.

    Raises ImageError when the Dockerfile has no such target or copies a path that is not there.
    """
    stages = dockerfile.needed(dockerfile.parse((root / "Dockerfile").read_text()), name)
    sources = sorted({source for stage in stages for source in stage.sources})
    files = tuple(file for source in sources for file in _files(root, source))
    digest = hashlib.sha256("".join(stage.text for stage in stages).encode())
    for file in files:
        content = (root / file).read_bytes()
        digest.update(f"\n{file} {is_executable(root / file)} {len(content)}\n".encode())
        digest.update(content)
    return Recipe(name, tuple(stages), files, f"{REPOSITORY}/{name}:{digest.hexdigest()[:12]}")


def is_executable(file: Path) -> bool:
    return bool(file.stat().st_mode & 0o100)


def _files(root: Path, source: str) -> list[Path]:
    """The files under a COPY source, less what .dockerignore leaves out."""
    path = root / source
    if not path.exists():
        raise ImageError(f"Dockerfile copies {source}, which does not exist")
    if path.is_file():
        return [Path(source)]
    return sorted(
        file.relative_to(root)
        for file in path.rglob("*")
        if file.is_file() and file.suffix != ".pyc" and "__pycache__" not in file.parts
    )
