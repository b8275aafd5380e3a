"""The stand-in answers for any address, and its log tells one look from the next."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from e2e.operator_benchmarks import stand_in_replicas
from e2e.operator_benchmarks.scrapes import looks
from e2e.waiting import wait_until
from tests.orthrus_operator.cluster.connection import free_port

ADDRESSES = ("127.77.0.1", "127.77.200.9")


def test_looks_are_told_apart_by_the_pause_between_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert looks(_written(log, ""), 40) == []
    log = _written(log, "10.0 a\n10.5 b\n12.0 a\n25.0 a\n26.0 c\n")
    # The second one may still be going on.
    assert len(looks(log, 28)) == 1
    found = looks(log, 40)
    assert [(look.seconds, set(look.addresses)) for look in found] == [
        (2.0, {"a", "b"}),
        (1.0, {"a", "c"}),
    ]


def _written(log: Path, text: str) -> Path:
    log.write_text(text)
    return log


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The log of one that says `hello 1.0`, and its port."""
    metrics, log, port = tmp_path / "metrics", tmp_path / "log", free_port()
    metrics.write_text("hello 1.0\n")
    command = [sys.executable, stand_in_replicas.__file__, port, str(metrics), str(log)]
    with subprocess.Popen(command) as process:
        yield log, port
        process.terminate()


def test_one_server_is_every_replica(stand_in: tuple[Path, str]) -> None:
    log, port = stand_in
    before = time.monotonic()

    def answers() -> list[str]:
        try:
            return [httpx.get(f"http://{each}:{port}/metrics").text for each in ADDRESSES]
        except httpx.TransportError as error:
            return [str(error)]

    wait_until("answers", answers, lambda seen: seen == ["hello 1.0\n"] * 2, within=30, every=0.1)
    [look] = looks(log, time.monotonic() + 60)
    assert look.addresses == set(ADDRESSES)
    assert before < look.started <= look.ended < time.monotonic()
