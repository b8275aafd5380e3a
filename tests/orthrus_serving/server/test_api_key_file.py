"""Keys change with the file; whatever happens to the file, the replica never opens to all."""

import os
from pathlib import Path

import pytest

from orthrus_serving.server.api_key_file import ApiKeyFile, read_keys


def opens(keys: ApiKeyFile, key: str) -> bool:
    return keys.accept(f"Bearer {key}")


def project(folder: Path, version: str, content: str | None) -> Path:
    """Writes as kubelet does: a new folder, and a link that moves to it at once."""
    data = folder / version
    data.mkdir(parents=True)
    if content is not None:
        (data / "keys").write_text(content)
    link = folder / "..new"
    link.symlink_to(version)
    link.rename(folder / "..data")
    path = folder / "keys"
    if not path.is_symlink():
        path.symlink_to("..data/keys")
    return path


def test_every_line_is_a_key(tmp_path: Path) -> None:
    keys = ApiKeyFile(project(tmp_path, "1", "one\n  two \r\n\nthree"))
    assert all(opens(keys, key) for key in ("one", "two", "three"))
    assert not opens(keys, "four")
    assert not opens(keys, "")
    assert not keys.accept(None)


def test_a_key_that_clients_send_in_different_bytes_is_refused(tmp_path: Path) -> None:
    path = project(tmp_path, "1", "one\nschlüssel")
    with pytest.raises(ValueError, match="printable ASCII"):
        read_keys(path)


def test_a_rotation_takes_effect_without_a_restart(tmp_path: Path) -> None:
    keys = ApiKeyFile(project(tmp_path, "1", "old"))
    assert opens(keys, "old")
    project(tmp_path, "2", "old\nnew")
    assert opens(keys, "new")
    assert opens(keys, "old")
    project(tmp_path, "3", "new")
    assert opens(keys, "new")
    assert not opens(keys, "old")


def test_a_change_in_place_counts_too(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("old")
    keys = ApiKeyFile(path)
    path.write_text("new")
    os.utime(path, ns=(1, 1))
    assert opens(keys, "new")


@pytest.mark.parametrize("content", ["", " \n\n", None], ids=["empty", "blank", "gone"])
def test_a_file_without_keys_keeps_the_last_ones(tmp_path: Path, content: str | None) -> None:
    keys = ApiKeyFile(project(tmp_path, "1", "old"))
    project(tmp_path, "2", content)
    assert opens(keys, "old")
    assert not opens(keys, "other")
    assert not keys.accept(None)
    project(tmp_path, "3", "new")
    assert opens(keys, "new")
    assert not opens(keys, "old")


def test_a_replica_does_not_start_without_keys(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="keys"):
        ApiKeyFile(tmp_path / "keys")
    with pytest.raises(ValueError, match="holds no API key"):
        read_keys(project(tmp_path, "1", "\n"))
