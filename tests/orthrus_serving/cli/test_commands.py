import subprocess
import sys
from pathlib import Path

import pytest

ORTHRUS = Path(sys.executable).parent / "orthrus"


def test_help_lists_the_commands_without_importing_torch() -> None:
    code = (
        "import sys\n"
        "from orthrus_serving.cli.commands import run\n"
        "try:\n    run(['--help'])\n"
        "finally:\n    assert not {'torch', 'vllm'} & set(sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "serve" in shown.stdout


def test_an_unknown_command_is_a_usage_error() -> None:
    done = subprocess.run([ORTHRUS, "dance"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "dance" in done.stderr


def test_a_bad_value_of_a_flag_of_the_listener_is_told_like_any_other() -> None:
    command = [str(ORTHRUS), "serve", "model", "--port", "many"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "InvalidArguments: argument --port" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("content", [None, "\n"], ids=["missing", "empty"])
def test_a_replica_without_the_keys_that_it_should_have_does_not_start(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "keys"
    if content is not None:
        path.write_text(content)
    command = [str(ORTHRUS), "serve", "model", f"--api-key-file={path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "InvalidArguments" in last
    assert str(path) in last
