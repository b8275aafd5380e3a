"""Container images of this repository, built with buildah on a machine without a registry."""

from e2e.images.build import build
from e2e.images.errors import ImageError

__all__ = ["ImageError", "build"]
