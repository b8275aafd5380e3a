import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from orthrus_serving.engine.frontend.adapters import store as store_module
from orthrus_serving.engine.frontend.adapters.peft_checkpoint import WEIGHTS, PeftCheckpoint
from orthrus_serving.engine.frontend.adapters.store import AdapterStore
from tests.orthrus_serving.frontend.adapters.checkpoints import CONFIG, tensors


@pytest.fixture
def store(tmp_path: Path) -> AdapterStore:
    return AdapterStore(tmp_path)


def test_the_same_content_is_stored_once(store: AdapterStore) -> None:
    assert store.put(PeftCheckpoint(CONFIG, tensors())) == store.put(
        PeftCheckpoint(dict(CONFIG), tensors())
    )


def test_other_content_has_another_folder_and_number(store: AdapterStore) -> None:
    stored = [
        store.put(PeftCheckpoint(CONFIG, tensors())),
        store.put(PeftCheckpoint(CONFIG, tensors(fill=2.0))),
        store.put(PeftCheckpoint(CONFIG | {"lora_alpha": 8}, tensors())),
        store.put(PeftCheckpoint(CONFIG, tensors("model.layers.1.q_proj"))),
    ]
    for field in ("folder", "digest", "number"):
        assert len({getattr(each, field) for each in stored}) == len(stored)
    assert all(each.number > 0 for each in stored)


def test_content_that_comes_twice_at_once_is_one_and_other_content_is_another(
    store: AdapterStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pair of writers meets in the middle of its work."""
    together = threading.Barrier(2)

    def save(*args: Any) -> None:
        together.wait(timeout=10)
        save_file(*args)

    monkeypatch.setattr(store_module, "save_file", save)
    with ThreadPoolExecutor(2) as pool:
        for fills in ((1.0, 2.0), (3.0, 3.0)):
            checkpoints = [PeftCheckpoint(CONFIG, tensors(fill=fill)) for fill in fills]
            stored = list(pool.map(store.put, checkpoints))
            assert len({each.number for each in stored}) == len(set(fills))
            assert all(load_file(each.folder / WEIGHTS) for each in stored)
    assert len(store.all()) == 3


def test_a_write_that_fails_leaves_nothing_and_may_be_tried_again(
    store: AdapterStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    checkpoint = PeftCheckpoint(CONFIG, tensors())
    (root,) = tmp_path.iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "save_file", full)
        with pytest.raises(OSError, match="No space"):
            store.put(checkpoint)
    assert [path.name for path in root.iterdir()] == [".lock"]
    assert load_file(store.put(checkpoint).folder / WEIGHTS)


def test_what_is_discarded_is_gone_and_comes_back_under_another_number(
    store: AdapterStore,
) -> None:
    kept = store.put(PeftCheckpoint(CONFIG, tensors(fill=2.0)))
    checkpoint = PeftCheckpoint(CONFIG, tensors())
    first = store.put(checkpoint)
    store.discard(first)
    assert not first.folder.exists()
    assert list(store.all()) == [kept]
    second = store.put(checkpoint)
    assert second.number not in {first.number, kept.number}
    assert second.folder == first.folder
    assert load_file(second.folder / WEIGHTS)


def test_a_folder_holds_what_vllm_reads(store: AdapterStore) -> None:
    folder = store.put(PeftCheckpoint(CONFIG, tensors())).folder
    assert (folder / "adapter_config.json").exists()
    assert set(load_file(folder / "adapter_model.safetensors")) == set(tensors())


def test_folders_of_dead_processes_go_and_of_live_ones_stay(
    store: AdapterStore, tmp_path: Path
) -> None:
    kept = store.put(PeftCheckpoint(CONFIG, tensors())).folder
    dead = tmp_path / "orthrus-adapters-dead"
    dead.mkdir()
    other = AdapterStore(tmp_path)
    assert kept.exists()
    assert not dead.exists()
    other.remove()
    store.remove()
    assert not list(tmp_path.iterdir())


def test_a_process_that_starts_in_between_leaves_a_new_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is locked, and just after."""
    others = []

    class Interrupted(store_module.FolderLock):
        def __init__(self, folder: Path) -> None:
            monkeypatch.undo()
            others.append(AdapterStore(tmp_path))
            super().__init__(folder)
            others.append(AdapterStore(tmp_path))

    monkeypatch.setattr(store_module, "FolderLock", Interrupted)
    first = AdapterStore(tmp_path)
    assert len(others) == 2
    for each in (first, *others):
        assert each.put(PeftCheckpoint(CONFIG, tensors())).folder.exists()
        each.remove()
    assert not list(tmp_path.iterdir())
