"""What goes wrong ends in one sentence."""

from pathlib import Path

import pytest

from orthrus_serving.cli.commands import run


def test_without_a_cluster_it_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run(["top", "--once"]) == 1
    assert "set KUBECONFIG" in capsys.readouterr().err


def test_a_server_that_is_not_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config"
    config.write_text(
        '{"apiVersion": "v1", "kind": "Config", "current-context": "c",'
        ' "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],'
        ' "users": [{"name": "c", "user": {}}],'
        ' "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}]}'
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    assert run(["top", "--once"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("orthrus top: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("wrong", [["--output=xml"], ["--window=0"], ["extra"]])
def test_wrong_arguments_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["top", *wrong]) == 2
    assert wrong[0].partition("=")[0] in capsys.readouterr().err
