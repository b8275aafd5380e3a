from pathlib import Path

import pytest

from orthrus_serving.engine.frontend.container_memory import memory_limit

GIB = 1 << 30
V1_UNLIMITED = "9223372036854771712"


@pytest.fixture
def self_cgroup(tmp_path: Path) -> Path:
    return tmp_path / "self-cgroup"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_v2_takes_the_lowest_limit_on_the_way_up(tmp_path: Path, self_cgroup: Path) -> None:
    self_cgroup.write_text("0::/pod/container\n")
    _write(tmp_path / "pod/container/memory.max", f"{4 * GIB}\n")
    _write(tmp_path / "pod/memory.max", f"{3 * GIB}\n")
    assert memory_limit(tmp_path, self_cgroup) == 3 * GIB


def test_v2_in_its_own_namespace_reads_the_root(tmp_path: Path, self_cgroup: Path) -> None:
    self_cgroup.write_text("0::/\n")
    _write(tmp_path / "memory.max", f"{2 * GIB}\n")
    assert memory_limit(tmp_path, self_cgroup) == 2 * GIB


def test_v1_reads_the_memory_hierarchy(tmp_path: Path, self_cgroup: Path) -> None:
    self_cgroup.write_text("5:cpu,cpuacct:/x\n4:memory:/kubepods/pod\n0::/\n")
    _write(tmp_path / "memory/kubepods/pod/memory.limit_in_bytes", f"{GIB}\n")
    _write(tmp_path / "memory/memory.limit_in_bytes", V1_UNLIMITED)
    assert memory_limit(tmp_path, self_cgroup) == GIB


def test_v1_path_of_the_host_falls_back_to_the_mounted_cgroup(
    tmp_path: Path, self_cgroup: Path
) -> None:
    self_cgroup.write_text("4:memory:/kubepods/pod\n")
    _write(tmp_path / "memory/memory.limit_in_bytes", f"{GIB}\n")
    assert memory_limit(tmp_path, self_cgroup) == GIB


@pytest.mark.parametrize(
    ("membership", "file", "text"),
    [
        ("0::/\n", "memory.max", "max\n"),
        ("4:memory:/\n", "memory/memory.limit_in_bytes", V1_UNLIMITED),
        ("0::/\n", "elsewhere", "1"),
    ],
)
def test_no_limit_is_none(
    tmp_path: Path, self_cgroup: Path, membership: str, file: str, text: str
) -> None:
    self_cgroup.write_text(membership)
    _write(tmp_path / file, text)
    assert memory_limit(tmp_path, self_cgroup) is None
