from pathlib import Path

import pytest
from safetensors.torch import load_file

from orthrus_serving.engine.frontend.adapters.peft_checkpoint import PeftCheckpoint
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
