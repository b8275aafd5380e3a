from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from safetensors.torch import save_file

from orthrus_serving.engine.frontend.checkpoint import Checkpoint
from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace, checkpoint_digest
from orthrus_serving.pooling import head_identity

SPACE = EmbeddingSpace(checkpoint="c", dtype="bfloat16", pooling="mean", normalized=True)


def digest(folder: Path) -> str:
    return checkpoint_digest(Checkpoint(folder, folder, (folder / "model.safetensors",)))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    _write_weights(folder)
    return folder


def _write_weights(folder: Path, **changed: torch.Tensor) -> None:
    tensors = {"large": torch.zeros(1000, 1000), "small": torch.zeros(4)}
    save_file(tensors | changed, folder / "model.safetensors")


def test_the_same_content_in_another_place_is_the_same_space(
    checkpoint: Path, tmp_path: Path
) -> None:
    before = digest(checkpoint)
    assert digest(checkpoint.rename(tmp_path / "moved")) == before


def test_a_change_to_any_tensor_is_another_space(checkpoint: Path) -> None:
    digests = {digest(checkpoint)}
    _write_weights(checkpoint, large=torch.ones(1000, 1000))
    digests.add(digest(checkpoint))
    _write_weights(checkpoint, small=torch.tensor([0.0, 0.0, 1.0, 0.0]))
    digests.add(digest(checkpoint))
    assert len(digests) == 3


def test_configuration_and_tokenizer_count_and_documentation_does_not(checkpoint: Path) -> None:
    before = digest(checkpoint)
    (checkpoint / "README.md").write_text("hello")
    assert digest(checkpoint) == before
    for name in ("tokenizer.json", "tokenizer_config.json", "tokenizer.model.v3", "params.json"):
        (checkpoint / name).write_text("{}")
        assert digest(checkpoint) != before
        before = digest(checkpoint)


@pytest.mark.parametrize(
    "other",
    [
        replace(SPACE, checkpoint="d"),
        replace(SPACE, dtype="float32"),
        replace(SPACE, pooling="last"),
        replace(SPACE, normalized=False),
        replace(SPACE, flags=("quantization=fp8",)),
        replace(SPACE, chat_template="{{ messages }}"),
    ],
)
def test_whatever_changes_vectors_changes_the_identifier(other: EmbeddingSpace) -> None:
    assert SPACE.identifier == replace(SPACE).identifier
    assert SPACE.identifier != other.identifier


def test_the_version_of_the_package_that_brought_a_head_counts() -> None:
    assert head_identity("max") == "max of orthrus-max-head 1.0"
    assert head_identity("mean") == "mean"
    before = replace(SPACE, pooling="max").identifier
    with patch.object(PathDistribution, "version", "1.1"):
        assert replace(SPACE, pooling="max").identifier != before
        assert replace(SPACE, pooling="mean").identifier == SPACE.identifier
