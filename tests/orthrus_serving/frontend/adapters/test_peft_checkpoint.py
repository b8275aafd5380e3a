import io
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.peft_checkpoint import (
    PeftCheckpoint,
    read_checkpoint,
)
from tests.orthrus_serving.frontend.adapters.checkpoints import (
    BASE,
    IN,
    LAYER,
    LIMITS,
    OUT,
    RANK,
    tensors,
    write,
)


def read(folder: Path) -> PeftCheckpoint:
    return read_checkpoint(folder, BASE, LIMITS)


def test_a_lora_of_this_model_is_read(tmp_path: Path) -> None:
    found = read(write(tmp_path))
    assert set(found.tensors) == set(tensors())
    assert found.config["r"] == RANK


def test_layers_of_an_adapter_of_the_bare_backbone_get_the_names_of_the_causal_model(
    tmp_path: Path,
) -> None:
    """vLLM would leave them out, and serve the backbone under the adapter's name."""
    found = read(write(tmp_path, tensors("layers.0.q_proj")))
    assert set(found.tensors) == set(tensors(LAYER))


def test_pickled_weights_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "adapter_model.safetensors").unlink()
    torch.save(tensors(), folder / "adapter_model.bin")
    assert set(read(folder).tensors) == set(tensors())


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"peft_type": "LOHA"}, "peft_type is LOHA"),
        ({"r": 16}, "its rank is 16: start the server with --max-lora-rank"),
        ({"rank_pattern": {"q_proj": 16}}, "its rank is 16"),
        ({"r": 0}, "positive"),
        ({"r": None}, "is not served"),
        ({"use_dora": True}, "DoRA"),
        ({"bias": "all"}, "bias"),
        ({"lora_bias": True}, "lora_bias"),
        ({"init_lora_weights": "pissa"}, "pissa"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"modules_to_save": ["score"]}, "modules_to_save"),
    ],
)
def test_what_vllm_cannot_apply_is_refused(
    tmp_path: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(AdapterError, match=said) as error:
        read(write(tmp_path, **config))
    assert not error.value.may_pass


def _with(name: str, tensor: Tensor) -> dict[str, Tensor]:
    return tensors() | {f"base_model.model.{LAYER}.{name}": tensor}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (tensors("model.layers.2.q_proj"), "model.layers.2.q_proj, which is not a linear layer"),
        (tensors("lm_head"), "lm_head, which is not a linear layer"),
        (tensors() | {"base_model.model.lm_head.weight": torch.ones(2, 2)}, "lm_head.weight"),
        (_with("lora_magnitude_vector.weight", torch.ones(2)), "lora_magnitude_vector"),
        (_with("lora_A.weight", torch.ones(RANK, IN - 1)), "it was trained on another model"),
        (_with("lora_B.weight", torch.ones(OUT + 1, RANK)), "it was trained on another model"),
        (_with("lora_B.weight", torch.ones(OUT, RANK + 1)), "it was trained on another model"),
        (_with("lora_B.weight", torch.full((OUT, RANK), torch.nan)), "not finite"),
        (_with("lora_A.weight", torch.full((RANK, IN), torch.inf)), "not finite"),
        (dict(list(tensors().items())[:1]), "only one of its two matrices"),
        ({}, "changes no layer"),
    ],
)
def test_weights_that_do_not_fit_this_model_are_refused(
    tmp_path: Path, weights: dict[str, Tensor], said: str
) -> None:
    with pytest.raises(AdapterError, match=said):
        read(write(tmp_path, weights))


def test_a_folder_that_is_no_adapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="not a PEFT adapter"):
        read(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{")
    with pytest.raises(AdapterError, match="cannot be read"):
        read(tmp_path)
    folder = write(tmp_path)
    (folder / "adapter_model.safetensors").write_bytes(b"no weights")
    with pytest.raises(AdapterError, match="cannot be read"):
        read(folder)
    (folder / "adapter_model.safetensors").unlink()
    with pytest.raises(AdapterError, match=r"has no adapter_model\.safetensors"):
        read(folder)


def _pickled(content: object) -> bytes:
    """As torch.save writes it."""
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


def test_pickled_parameters_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "adapter_model.safetensors").unlink()
    parameters = {name: torch.nn.Parameter(tensor) for name, tensor in tensors().items()}
    (folder / "adapter_model.bin").write_bytes(_pickled(parameters))
    found = read(folder).tensors
    assert {name: found[name].tolist() for name in found} == {
        name: tensor.tolist() for name, tensor in tensors().items()
    }
    assert not any(tensor.requires_grad for tensor in found.values())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read"),
        (b"garbage", "cannot be read"),
        (pickle.dumps({"a": print}), "cannot be read"),
        (_pickled([1, 2]), "cannot be read"),
        (_pickled({"lora_A": [1.0]}), "hold lora_A, which is no tensor"),
    ],
    ids=["empty", "garbage", "program", "list", "no tensor"],
)
def test_a_pickle_of_anything_else_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    folder = write(tmp_path)
    (folder / "adapter_model.safetensors").unlink()
    (folder / "adapter_model.bin").write_bytes(content)
    with pytest.raises(AdapterError, match=said):
        read(folder)
