import json
from pathlib import Path

import pytest
from transformers import LlamaConfig
from vllm.config import ModelConfig

from orthrus_serving.engine.frontend.model_checks import check_architecture, check_local_model
from orthrus_serving.engine.start_error import Reason, StartError


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A Llama without weights: all that vLLM's model configuration reads."""
    config = LlamaConfig(
        architectures=["LlamaForCausalLM"],
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=64,
    )
    config.save_pretrained(tmp_path)
    return tmp_path


def _model(checkpoint: Path, **changed: object) -> ModelConfig:
    file = checkpoint / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    return ModelConfig(str(checkpoint), skip_tokenizer_init=True)


def test_a_causal_decoder_is_served(checkpoint: Path) -> None:
    check_architecture(_model(checkpoint))


@pytest.mark.parametrize("changed", [{"is_causal": False}, {"use_bidirectional_attention": True}])
def test_a_bidirectional_backbone_is_refused(checkpoint: Path, changed: dict[str, bool]) -> None:
    with pytest.raises(StartError, match="both directions") as refusal:
        check_architecture(_model(checkpoint, **changed))
    assert refusal.value.reason is Reason.MODEL_UNSUPPORTED


def test_a_sentence_transformers_dense_head_is_refused(checkpoint: Path) -> None:
    modules = [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]
    (checkpoint / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(StartError, match="Dense"):
        check_architecture(_model(checkpoint))


def test_a_path_that_is_no_checkpoint_is_not_taken_for_a_hub_name(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "nope", "does not exist"),
        (tmp_path, "has no config.json"),
    ):
        with pytest.raises(StartError, match=said) as refusal:
            check_local_model(str(path))
        assert refusal.value.reason is Reason.MODEL_NOT_FOUND


def test_a_checkpoint_without_weights_is_not_found(checkpoint: Path) -> None:
    with pytest.raises(StartError, match="no weights"):
        check_local_model(str(checkpoint))
    (checkpoint / "model.safetensors").touch()
    check_local_model(str(checkpoint))


def test_a_hub_name_is_left_to_the_loader() -> None:
    check_local_model("HuggingFaceTB/SmolLM2-135M-Instruct")
