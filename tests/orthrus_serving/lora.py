"""LoRA adapters of the sample model, made and computed by PEFT."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.orthrus_serving.engine.reference import ONE_PASS

ATTENTION = ("q_proj", "v_proj")
ALL_LINEAR = (*ATTENTION, "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Lora:
    """Random weights with a real effect."""

    seed: int
    rank: int
    layers: tuple[str, ...] = ATTENTION
    scale: float = 0.5
    """alpha ÷ rank; 1e30 overflows fp32."""
    backbone_only: bool = False
    """As if trained on the backbone without its head: layer names lack their first part."""


class PeftModels:
    """The sample model and its adapters in fp32, one pass a prompt."""

    def __init__(self, checkpoint: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self._base = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).eval()
        self._model: PeftModel | None = None

    def make(self, name: str, lora: Lora, folder: Path) -> Path:
        """Saves a new adapter as PEFT does, and keeps it for reference."""
        torch.manual_seed(lora.seed)
        config = LoraConfig(
            r=lora.rank,
            lora_alpha=cast("int", lora.rank * lora.scale),
            target_modules=list(lora.layers),
            init_lora_weights=False,
        )
        if self._model is None:
            self._model = cast("PeftModel", get_peft_model(self._base, config, adapter_name=name))
        else:
            self._model.add_adapter(name, config)
        self._model.save_pretrained(str(folder.parent / ".peft"), selected_adapters=[name])
        shutil.move(folder.parent / ".peft" / name, folder)
        if lora.backbone_only:
            weights = folder / "adapter_model.safetensors"
            tensors = load_file(weights)
            save_file(
                {k.replace(".model.model.", ".model."): v for k, v in tensors.items()}, weights
            )
        return folder

    def tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text).input_ids)

    @torch.inference_mode()
    def vector(self, adapter: str, tokens: list[int], method: str) -> Tensor:
        """The pooled hidden states, fp64 [hidden size], not normalised."""
        backbone = cast("Any", self._with(adapter).get_base_model().model)
        hidden = backbone(torch.tensor([tokens])).last_hidden_state[0]
        return ONE_PASS[method](hidden.double())

    @torch.inference_mode()
    def continuation(self, adapter: str, tokens: list[int], count: int) -> str:
        """Greedy text of `count` tokens, past any end of text."""
        model = self._with(adapter)
        sequence = list(tokens)
        for _ in range(count):
            sequence.append(int(model(torch.tensor([sequence])).logits[0, -1].argmax()))
        return str(self.tokenizer.decode(sequence[len(tokens) :], skip_special_tokens=True))

    def _with(self, adapter: str) -> PeftModel:
        assert self._model is not None
        self._model.set_adapter(adapter)
        return self._model
