"""What is found of a model is what vLLM loads of it, from a folder and from the hub alike."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import HfFileSystem, constants
from safetensors.torch import save_file
from vllm.config import LoadConfig
from vllm.transformers_utils import repo_utils

from e2e.hub_stub import Repository, hub_stub
from orthrus_serving.engine.frontend.checkpoint import Checkpoint, Location, find_checkpoint
from orthrus_serving.engine.frontend.embedding_space import checkpoint_digest
from orthrus_serving.engine.start_error import StartError

TINY = "orthrus/tiny"
INDEXED = ("model-1.safetensors", "model-2.safetensors")


def write_weights(folder: Path, *names: str) -> None:
    for fill, name in enumerate(names):
        save_file({"weight": torch.full((4,), float(fill))}, folder / name)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """As a repository is: sharded weights with an index, and much that nobody loads."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text(f'{{"of": "{name}"}}')
    for name in ("README.md", ".gitattributes", "pytorch_model.bin"):
        (folder / name).write_text(name)
    write_weights(folder, *INDEXED)
    index = {"weight_map": {f"layer.{i}": name for i, name in enumerate(INDEXED)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def find(model: Path | str, load: LoadConfig | None = None) -> Checkpoint:
    location = Location(str(model))
    return find_checkpoint(location, location, load or LoadConfig())


def weights(model: Path, load_format: str = "auto") -> set[str]:
    return {file.name for file in find(model, LoadConfig(load_format=load_format)).weights}


def test_weights_are_those_of_the_index_whatever_lies_beside_them(model: Path) -> None:
    assert weights(model) == set(INDEXED)
    write_weights(model, "adapter.safetensors")
    assert weights(model) == set(INDEXED)


def test_one_format_of_weights_is_read_the_one_that_vllm_prefers(model: Path) -> None:
    for file in model.glob("*.safetensors*"):
        file.unlink()
    (model / "training_args.bin").write_text("x")
    assert weights(model) == {"pytorch_model.bin"}
    write_weights(model, "model.safetensors")
    assert weights(model) == {"model.safetensors"}
    assert weights(model, "sharded_state") == {"model.safetensors"}
    assert weights(model, "dummy") == set()
    write_weights(model, "consolidated.safetensors")
    # vLLM remembers the names of a folder for as long as the process lives.
    assert weights(model.rename(model.with_name("renamed"))) == {"consolidated.safetensors"}


def test_what_is_not_loaded_is_not_in_the_digest(model: Path) -> None:
    before = checkpoint_digest(find(model))
    write_weights(model, "adapter.safetensors")
    (model / "pytorch_model.bin").unlink()
    assert checkpoint_digest(find(model)) == before
    write_weights(model, INDEXED[0])
    assert checkpoint_digest(find(model)) == before
    write_weights(model, INDEXED[1])
    assert checkpoint_digest(find(model)) != before


def test_another_tokenizer_is_another_digest_and_the_same_under_another_name_is_not(
    model: Path, tmp_path: Path
) -> None:
    tokenizer = tmp_path / "tokenizer"
    tokenizer.mkdir()
    for file in model.glob("tokenizer*.json"):
        (tokenizer / file.name).write_bytes(file.read_bytes())

    def digest() -> str:
        there = Location(str(tokenizer))
        return checkpoint_digest(find_checkpoint(Location(str(model)), there, LoadConfig()))

    assert digest() == checkpoint_digest(find(model))
    (tokenizer / "tokenizer.json").write_text("{}")
    assert digest() != checkpoint_digest(find(model))


@pytest.fixture
def hub(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a repository that holds `model`, on a hub of its own with an empty cache."""
    name = f"{TINY}-{tmp_path.name}"  # vLLM remembers a repository for as long as it lives
    with hub_stub("127.0.0.1", Repository(name, model)) as endpoint:
        # The client reads HF_ENDPOINT and HF_HOME once, when it is imported.
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, endpoint)
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(repo_utils, "_hf_api", None)
        HfFileSystem.clear_instance_cache()
        yield name
    HfFileSystem.clear_instance_cache()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_repository_is_the_same_model_as_its_folder_wherever_it_is_downloaded_to(
    hub: str, model: Path, tmp_path: Path, elsewhere: bool
) -> None:
    directory = tmp_path / "downloads"
    load = LoadConfig(download_dir=str(directory) if elsewhere else None)
    found = find(hub, load)
    assert {file.name for file in found.weights} == set(INDEXED)
    assert all(file.is_relative_to(directory) for file in found.weights) == elsewhere
    assert not list(found.configuration.glob("*.bin")), "more is downloaded than is loaded"
    assert checkpoint_digest(found) == checkpoint_digest(find(model))


def test_a_model_that_the_hub_lacks_is_told_in_one_sentence(hub: str) -> None:
    with pytest.raises(StartError, match="orthrus/nothing cannot be downloaded"):
        find("orthrus/nothing")
