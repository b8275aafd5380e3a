"""Where everything slow is kept between runs: tools, images, models, cluster state."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`$ORTHRUS_CACHE`, by default `~/.cache/orthrus`."""
    return Path(os.environ.get("ORTHRUS_CACHE") or Path.home() / ".cache" / "orthrus").absolute()
