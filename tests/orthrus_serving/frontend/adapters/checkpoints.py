"""Small PEFT checkpoints for a base model of two layers."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from vllm.config import LoRAConfig

from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules

OUT, IN, RANK = 6, 4, 2
LAYER = "model.layers.0.q_proj"
BASE = BaseModules({LAYER: (OUT, IN), "model.layers.1.q_proj": (OUT, IN)}, "model", IN)
LIMITS = LoRAConfig(max_lora_rank=8, max_loras=2, max_cpu_loras=4)
CONFIG: dict[str, Any] = {
    "peft_type": "LORA",
    "r": RANK,
    "lora_alpha": 4,
    "target_modules": ["q_proj"],
}


def tensors(layer: str = LAYER, fill: float = 1.0) -> dict[str, Tensor]:
    return {
        f"base_model.model.{layer}.lora_A.weight": torch.full((RANK, IN), fill),
        f"base_model.model.{layer}.lora_B.weight": torch.full((OUT, RANK), fill),
    }


def write(folder: Path, weights: dict[str, Tensor] | None = None, **config: Any) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "adapter_config.json").write_text(json.dumps(CONFIG | config))
    save_file(tensors() if weights is None else weights, folder / "adapter_model.safetensors")
    return folder
