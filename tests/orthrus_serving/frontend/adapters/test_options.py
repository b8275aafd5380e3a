from argparse import Namespace
from pathlib import Path

import pytest

from orthrus_serving.engine.frontend.adapters.loader import REPLACEMENTS
from orthrus_serving.engine.frontend.adapters.options import (
    ADMIN_KEY_VARIABLE,
    HEADROOM,
    AdapterOptions,
    adapter_options,
)
from orthrus_serving.engine.frontend.arguments import parse
from orthrus_serving.engine.start_error import Reason, StartError

ENTRIES = """adapters:
- {name: e5, source: /e5, task: embed}
- {name: sql, source: /sql, task: generate}
- {name: tags, source: /tags, task: generate}
"""


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADMIN_KEY_VARIABLE, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "adapters.yaml").write_text(ENTRIES)
    return tmp_path / "adapters.yaml"


def options(*flags: str) -> tuple[AdapterOptions, Namespace]:
    arguments = parse(["model", *flags])
    return adapter_options(arguments), arguments


def test_without_adapters_lora_stays_off() -> None:
    found, arguments = options()
    assert not found.enabled
    assert not arguments.enable_lora


def test_declared_adapters_size_what_vllm_keeps(file: Path) -> None:
    found, arguments = options(f"--adapters-file={file}")
    assert [adapter.name for adapter in found.declared] == ["e5", "sql", "tags"]
    assert arguments.enable_lora
    assert (arguments.max_loras, arguments.max_cpu_loras) == (3, 3 + HEADROOM + REPLACEMENTS)
    _, arguments = options(f"--adapters-file={file}", "--max-loras=2", "--max-cpu-loras=4")
    assert (arguments.max_loras, arguments.max_cpu_loras) == (2, 4 + REPLACEMENTS)


def test_declared_adapters_of_one_task_fit_into_one_batch(file: Path) -> None:
    """Of the slots one is kept for the other task."""
    entries = [f"{{name: g{number}, task: generate, source: /g{number}}}" for number in range(4)]
    file.write_text(f"adapters: [{', '.join(entries)}]")
    _, arguments = options(f"--adapters-file={file}")
    assert arguments.max_loras == 5


def test_an_empty_file_leaves_room_for_later(file: Path) -> None:
    file.write_text("adapters: []")
    _, arguments = options(f"--adapters-file={file}")
    assert arguments.enable_lora
    assert (arguments.max_loras, arguments.max_cpu_loras) == (2, 2 + HEADROOM + REPLACEMENTS)


def test_admin_keys_come_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_file = tmp_path / "keys"
    key_file.write_text("one\n\n two \n")
    found, arguments = options(f"--admin-key-file={key_file}")
    assert found.admin_keys == ("one", "two")
    assert arguments.enable_lora
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "three")
    assert options()[0].admin_keys == ("three",)
    assert options(f"--admin-key-file={key_file}")[0].admin_keys == ("one", "two")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--adapters-file=/nowhere"], "--adapters-file: /nowhere cannot be read"),
        (["--adapters-file={bad}"], "--adapters-file: .*e5: the field task is missing"),
        (["--adapters-file={file}", "--served-model-name=sql"], "name of the served model"),
        (["--adapters-file={file}", "--embedding-adapter=nope"], "nope is not declared"),
        (["--embedding-adapter=e5"], "e5 is not declared"),
        (["--adapters-file={file}", "--embedding-adapter=sql"], "must be embed"),
        (["--adapters-file={file}", "--max-loras=1"], "--max-loras 1 must be at least 2"),
        (["--adapters-file={file}", "--max-cpu-loras=2"], "--max-cpu-loras 2 must be at least"),
        (["--admin-key-file=/nowhere"], "--admin-key-file /nowhere cannot be read"),
        (["--admin-key-file={empty}"], "holds no key"),
        (["--admin-key-file={other}"], "other characters than printable ASCII"),
    ],
)
def test_what_cannot_be_served_is_refused_at_start(
    file: Path, tmp_path: Path, flags: list[str], said: str
) -> None:
    bad, empty = tmp_path / "bad.yaml", tmp_path / "empty"
    bad.write_text("adapters: [{name: e5, source: /e5}]")
    empty.write_text("\n")
    other = tmp_path / "other"
    other.write_text("schlüssel")
    with pytest.raises(StartError, match=said) as refusal:
        options(*(flag.format(file=file, bad=bad, empty=empty, other=other) for flag in flags))
    assert refusal.value.reason is Reason.INVALID_ARGUMENTS


def test_an_empty_admin_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "")
    with pytest.raises(StartError, match="ORTHRUS_ADMIN_KEY holds no key"):
        options()


def test_an_embedding_adapter_may_be_loaded_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "key")
    assert options("--embedding-adapter=e5")[0].embedding_adapter == "e5"
