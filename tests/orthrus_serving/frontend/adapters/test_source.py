from pathlib import Path

import httpx2
import huggingface_hub
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled

from orthrus_serving.engine.frontend.adapters import source
from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.source import fetch, is_on_hub


def test_a_folder_is_used_where_it_is(tmp_path: Path) -> None:
    assert fetch(str(tmp_path)) == tmp_path


def test_a_claim_is_mounted_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CLAIMS_FOLDER", tmp_path)
    (tmp_path / "claim" / "loras" / "e5").mkdir(parents=True)
    assert fetch("pvc://claim/loras/e5") == tmp_path / "claim" / "loras" / "e5"
    assert fetch("pvc://claim") == tmp_path / "claim"


def test_what_is_not_there_may_come(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="not there") as error:
        fetch(str(tmp_path / "nowhere"))
    assert error.value.may_pass


@pytest.mark.parametrize(
    ("given", "folder", "revision"),
    [
        ("hf://org/name", "", None),
        ("hf://org/name@v1.0", "", "v1.0"),
        ("hf://org/name/lora/last@refs/pr/3", "lora/last", "refs/pr/3"),
    ],
)
def test_a_hub_source_names_repository_folder_and_revision(
    given: str, folder: str, revision: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub itself cannot be reached from here: its client is asked, and answers a folder."""
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    asked: dict[str, object] = {}

    def download(repository: str, **options: object) -> str:
        asked.update(options, repository=repository)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert fetch(given) == tmp_path / folder
    assert (asked["repository"], asked["revision"]) == ("org/name", revision)
    patterns = asked["allow_patterns"]
    assert isinstance(patterns, list)
    assert f"{folder}/adapter_config.json".lstrip("/") in patterns


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OfflineModeIsEnabled("no network\nsecond line"), "no network"),
        (httpx2.ConnectError("refused"), "refused"),
        (httpx2.ReadTimeout(""), "ReadTimeout"),
        (httpx2.ProxyError("407"), "407"),
    ],
)
def test_a_hub_that_does_not_answer_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def download(*_: object, **__: object) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(AdapterError, match=rf"org/name cannot be downloaded: {said}$") as told:
        fetch("hf://org/name")
    assert told.value.may_pass


def test_only_what_is_on_the_hub_takes_a_network() -> None:
    assert is_on_hub("hf://org/name/folder@main")
    assert not is_on_hub("pvc://claim/path")
    assert not is_on_hub("/folder")
