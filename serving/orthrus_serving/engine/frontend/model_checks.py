"""Models that would be served wrong are refused at start."""

from pathlib import Path
from typing import Any

from vllm.config import ModelConfig
from vllm.transformers_utils.repo_utils import get_hf_file_to_dict

from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules, base_modules
from orthrus_serving.engine.start_error import Reason, StartError

_WEIGHT_SUFFIXES = {".safetensors", ".bin", ".pt", ".gguf"}


def check_local_model(model: str) -> None:
    """Refuses a path that is not a checkpoint, before vLLM takes it for a name on the hub."""
    path = Path(model)
    if not path.is_absolute() and not model.startswith(".") and not path.exists():
        return
    if not path.exists():
        raise StartError(Reason.MODEL_NOT_FOUND, f"{model} does not exist")
    if not (path / "config.json").is_file():
        raise StartError(Reason.MODEL_NOT_FOUND, f"{model} has no config.json")
    if not any(file.suffix in _WEIGHT_SUFFIXES for file in path.iterdir()):
        raise StartError(Reason.MODEL_NOT_FOUND, f"{model} has no weights (*.safetensors)")


def check_architecture(model: ModelConfig) -> None:
    """Refuses models whose hidden states cannot be pooled chunk by chunk."""
    if why := _unsupported(model):
        raise StartError(Reason.MODEL_UNSUPPORTED, f"{model.model} cannot be served: it {why}")


def adaptable_layers(model: ModelConfig) -> BaseModules:
    """What adapters of the model are checked against. Raises StartError."""
    try:
        return base_modules(model.hf_config, trust_remote_code=model.trust_remote_code)
    except ValueError as error:
        raise StartError(
            Reason.MODEL_UNSUPPORTED,
            f"{model.model} cannot have adapters: Transformers, which checks them, says {error}",
        ) from error


def _unsupported(model: ModelConfig) -> str | None:
    if model.is_encoder_decoder:
        return "is an encoder-decoder, and only decoders embed and generate in one pass"
    if model.is_hybrid or model.is_attention_free:
        return "has state-space layers, whose chunks must be aligned in a way that mixing breaks"
    if model.is_multimodal_model:
        return "is multimodal, and only text models are served"
    if any(_is_bidirectional(config) for config in (model.hf_config, model.hf_text_config)):
        return "attends in both directions, so a chunk cannot be embedded before the next is known"
    if _has_dense_head(model):
        return "has a Sentence-Transformers Dense module, which would be left out of its vectors"
    return None


def _is_bidirectional(config: Any) -> bool:
    causal = getattr(config, "is_causal", True)
    return causal is False or bool(getattr(config, "use_bidirectional_attention", False))


def _has_dense_head(model: ModelConfig) -> bool:
    modules = get_hf_file_to_dict("modules.json", model.model, model.revision) or []
    return any(module["type"].endswith(".Dense") for module in modules)
