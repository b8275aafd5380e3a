from pathlib import Path

import pytest

from orthrus_serving.server.termination import MESSAGE_LIMIT, report_failed_start


def test_the_reason_is_one_line_in_the_log_and_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "termination-log"
    log.touch()
    report_failed_start("ModelNotFound", "/models/nope\n has no config.json", log)
    line = "ModelNotFound: /models/nope has no config.json"
    assert log.read_text() == line
    assert line in capsys.readouterr().err


def test_a_long_reason_fits_what_the_kubelet_reads(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"
    log.touch()
    report_failed_start("StartFailed", "x" * 9000, log)
    assert log.stat().st_size == MESSAGE_LIMIT


def test_outside_a_pod_no_log_is_made(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"
    report_failed_start("StartFailed", "x", log)
    assert not log.exists()
