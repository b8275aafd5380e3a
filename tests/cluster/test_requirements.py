"""A machine that cannot run the cluster is told in one line what it lacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.cluster import Cluster, ClusterError
from e2e.cluster.requirements import (
    IMAGE_FILES,
    NODE_FILES,
    PACKAGES,
    check_files,
    check_node_requirements,
)


def run_cli(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "e2e.cluster", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_every_package_that_is_asked_for_is_in_the_list() -> None:
    listed = PACKAGES.read_text().split()
    assert {*NODE_FILES.values(), *IMAGE_FILES.values()} <= set(listed)
    assert listed == sorted(listed)


def test_a_missing_command_is_named_with_its_package() -> None:
    with pytest.raises(ClusterError) as refused:
        check_files({"sh": "dash", "no-such-command": "some-package", "/no/file": "another"})
    assert str(refused.value) == (
        "missing: no-such-command, /no/file. On Debian, as root: "
        "apt-get install --no-install-recommends another some-package"
    )


def test_without_root_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match=r"needs root.*KUBECONFIG"):
        check_node_requirements()


def test_without_go_the_command_stops_with_one_line(tmp_path: Path) -> None:
    done = run_cli("tools", PATH="/nowhere", ORTHRUS_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == "✗ go is missing: install Go 1.26 or newer and have it in PATH\n"


def test_without_a_module_proxy_the_command_says_so(tmp_path: Path) -> None:
    offline = {"GOPROXY": "http://127.0.0.1:9", "GOMODCACHE": str(tmp_path / "modules")}
    done = run_cli("tools", ORTHRUS_CACHE=str(tmp_path), GOFLAGS="-modcacherw", **offline)
    assert done.returncode == 1
    assert "is the module proxy reachable?" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_kubeconfig_that_is_no_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/no/such/file")
    with pytest.raises(ClusterError, match="no such file"):
        Cluster.current()


def test_another_cluster_is_used_but_never_changed(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.touch()
    found = run_cli("kubeconfig", KUBECONFIG=str(kubeconfig))
    assert found.stdout.strip() == str(kubeconfig)
    down = run_cli("down", KUBECONFIG=str(kubeconfig))
    assert (down.returncode, "left alone" in down.stderr) == (1, True)
    loaded = run_cli("load-image", "example:1", KUBECONFIG=str(kubeconfig))
    assert (loaded.returncode, "push example:1 to a registry" in loaded.stderr) == (1, True)
