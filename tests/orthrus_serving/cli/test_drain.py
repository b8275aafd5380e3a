import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ORTHRUS = Path(sys.executable).parent / "orthrus"

_CATCHES = """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
print("prepared", flush=True)
time.sleep(60)
"""


@pytest.fixture
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process whose command line is `python SCRIPT ARGUMENT`."""
    name, argument = request.param
    script = tmp_path / name
    script.write_text(_CATCHES)
    command = [sys.executable, str(script), argument]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize("process", [("orthrus", "serve")], indirect=True)
def test_an_announcement_reaches_the_replica_and_takes_its_time(
    process: subprocess.Popen[str],
) -> None:
    started = time.monotonic()
    assert _announce(process.pid, "--seconds", "0.5").returncode == 0
    assert time.monotonic() - started >= 0.5
    assert process.wait(timeout=10) == 7


@pytest.mark.parametrize(
    "process",
    [("orthrus", "drain"), ("orthrus-operator", "serve"), ("other", "serve")],
    indirect=True,
)
def test_another_process_is_left_alone(process: subprocess.Popen[str]) -> None:
    done = _announce(process.pid)
    assert done.returncode == 1
    assert "is not `orthrus serve`" in done.stderr
    assert process.poll() is None


def test_a_process_that_does_not_exist_is_told() -> None:
    done = _announce(2**22 + 1)
    assert done.returncode == 1
    assert "orthrus drain: process" in done.stderr


def test_only_an_announcement_can_be_asked_for() -> None:
    done = subprocess.run([ORTHRUS, "drain"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--announce" in done.stderr


def test_a_process_that_is_about_to_become_a_replica_survives_an_announcement() -> None:
    code = (
        "import os, signal, sys\n"
        "from orthrus_serving.cli import commands, main\n"
        "commands.run = lambda _: os.kill(os.getpid(), signal.SIGUSR1)\n"
        "main.main()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _announce(pid: int, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [str(ORTHRUS), "drain", "--announce", "--seconds", "0", "--pid", str(pid), *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False)
