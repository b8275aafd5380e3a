"""The memory limit of our container, from cgroup v2 or v1."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CGROUP_ROOT = Path("/sys/fs/cgroup")
SELF_CGROUP = Path("/proc/self/cgroup")

_UNLIMITED_FROM = 1 << 60
"""cgroup v1 writes the largest page-aligned int64 for "no limit"."""


def memory_limit(root: Path = CGROUP_ROOT, self_cgroup: Path = SELF_CGROUP) -> int | None:
    """The lowest limit over our cgroup and those above it, in bytes; None when there is none."""
    limits = [limit for file in _limit_files(root, self_cgroup) if (limit := _read(file))]
    return min(limits, default=None)


def _limit_files(root: Path, self_cgroup: Path) -> Iterator[Path]:
    for line in self_cgroup.read_text().splitlines():
        hierarchy, controllers, path = line.split(":", 2)
        if hierarchy == "0":
            yield from _upwards(root, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _upwards(root / "memory", path, "memory.limit_in_bytes")


def _upwards(root: Path, path: str, name: str) -> Iterator[Path]:
    """Inside a cgroup namespace `path` may not exist under `root`; `root` itself is then ours."""
    relative = PurePosixPath(path.lstrip("/"))
    for directory in [relative, *relative.parents]:
        yield root / directory / name


def _read(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    if text == "max" or int(text) >= _UNLIMITED_FROM:
        return None
    return int(text)
