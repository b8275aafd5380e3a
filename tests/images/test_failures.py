"""What stops a build is one line that says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.images import ImageError, buildah, progress
from e2e.images.build import ROOT


def test_a_missing_builder_is_named(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the lack of root is named first")
    done = subprocess.run(
        [sys.executable, "-m", "e2e.images", "build", "operator"],
        cwd=ROOT,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: buildah is not installed: run `make deps`\n"


def test_the_lack_of_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ImageError, match="needs root"):
        buildah.require()


def test_steps_are_shown_but_for_those_whose_layer_is_cached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        "STEP 1/3: RUN one\n--> Using cache 1\n[2/2] STEP 2/3: RUN two\nnoise\nSTEP 3/3: RUN x\n"
    )
    progress.run("image", ["printf", "%s", lines + "COMMIT\n"], tmp_path / "logs" / "log")
    shown = [line.partition("] ")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["RUN two", "RUN x"]
    assert (tmp_path / "logs" / "log").read_text() == lines + "COMMIT\n"


def test_a_long_silence_is_broken_by_the_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_SECONDS", 0.05)
    progress.run("image", ["sh", "-c", "echo Unpacking; sleep 0.5"], tmp_path / "log")
    assert "… Unpacking" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        (
            "W: Failed to fetch http://mirror/debian  Temporary failure resolving 'mirror'\n"
            "E: Unable to locate package python3\nError: building at STEP: exit status 100\n",
            "a package index cannot be reached",
        ),
        ("error: error sending request for url (https://index/x)\n", "a package index cannot"),
        (
            "cc: no such file\nsubprocess exited with status 2\n",
            "exit status 2 \\(cc: no such file",
        ),
    ],
)
def test_a_failure_is_one_line_with_its_cause_and_log(
    tmp_path: Path, output: str, complaint: str
) -> None:
    log = tmp_path / "log"
    command = ["sh", "-c", 'printf %s "$0"; exit 2', output]
    with pytest.raises(ImageError, match=complaint) as raised:
        progress.run("image", command, log)
    assert "\n" not in str(raised.value)
    assert str(log) in str(raised.value)
