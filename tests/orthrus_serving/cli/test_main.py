"""What every process of a replica begins with."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import gc, multiprocessing
from orthrus_serving.cli.main import main

def report():
    print(gc.get_threshold()[0])

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=report)
    child.start()
    child.join()
"""


def test_processes_that_a_replica_spawns_collect_garbage_as_rarely_as_itself(
    tmp_path: Path,
) -> None:
    orthrus = tmp_path / "orthrus"  # as the installed command is: without .py
    orthrus.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(orthrus)], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) == 50_000
