"""The layers of the base model that an adapter may change."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from transformers import AutoModelForCausalLM, PretrainedConfig

HEAD = "lm_head"


@dataclass(frozen=True)
class BaseModules:
    """Names as in the causal model, which is what vLLM serves."""

    shapes: Mapping[str, tuple[int, int]]
    """(outputs, inputs) of every linear layer but the head."""
    backbone: str
    """Name of the backbone inside the causal model: an adapter trained on the backbone alone
    leaves it out."""
    hidden_size: int

    def find(self, name: str) -> str | None:
        """The causal model's name for a layer; None for one that it lacks."""
        return next((n for n in (name, f"{self.backbone}.{name}") if n in self.shapes), None)


def base_modules(config: PretrainedConfig, *, trust_remote_code: bool) -> BaseModules:
    """Reads them off a model without weights, so no checkpoint is opened.

    Raises ValueError when Transformers does not know the architecture.
    """
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code)
    shapes = {
        name: (layer.out_features, layer.in_features)
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear) and name != HEAD
    }
    return BaseModules(shapes, model.base_model_prefix, config.get_text_config().hidden_size)
