"""An environment of its own for the client libraries that tests hold a replica against."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from e2e.cache import cache_dir

PINNED = Path(__file__).parent.parent / "requirements" / "clients.txt"


def client_python() -> Path:
    """The interpreter of that environment; made, from pinned requirements, on first use."""
    key = hashlib.sha256(PINNED.read_bytes()).hexdigest()[:12]
    environment = cache_dir() / f"clients-{key}"
    python = environment / "bin" / "python"
    if not python.exists():
        environment.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=environment.parent, prefix=".clients-") as scratch:
            unfinished = Path(scratch) / "environment"
            uv = _uv()
            subprocess.run(
                [uv, "venv", "-q", "--relocatable", "--python", "3.11", unfinished], check=True
            )
            subprocess.run(
                [uv, "pip", "install", "-q", "--no-deps", "--python", unfinished, "-r", PINNED],
                check=True,
            )
            unfinished.rename(environment)
    return python


def _uv() -> Path:
    """As e2e/venv.sh finds it, or puts it."""
    found = shutil.which("uv")
    return Path(found) if found else cache_dir() / "uv" / "bin" / "uv"
