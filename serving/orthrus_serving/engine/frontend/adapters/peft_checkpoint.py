"""Reads an adapter in PEFT's format, and refuses what vLLM would apply wrong or not at all.

vLLM leaves out layers whose names it does not know, and copies a smaller matrix into the corner of
a larger one, without a word; both are errors here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from vllm.config import LoRAConfig
from vllm.lora.peft_helper import PEFTHelper

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError, first_line
from orthrus_serving.engine.frontend.adapters.base_modules import BaseModules

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
PICKLED_WEIGHTS = "adapter_model.bin"

_TENSOR = re.compile(r"^base_model\.model\.(?P<layer>.+)\.lora_(?P<side>[AB])\.weight$")


@dataclass(frozen=True)
class PeftCheckpoint:
    """An adapter that fits the base model, with the causal model's layer names."""

    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def read_checkpoint(folder: Path, base: BaseModules, limits: LoRAConfig) -> PeftCheckpoint:
    """Raises AdapterError with one sentence. Blocks."""
    config = _read_config(folder)
    helper = _check_config(config, limits)
    layers: dict[str, dict[str, Tensor]] = {}
    for name, tensor in _read_tensors(folder).items():
        match = _TENSOR.match(name)
        layer = base.find(match["layer"]) if match else None
        if match is None or layer is None:
            raise AdapterError(
                f"it changes {match['layer'] if match else name}, which is not a linear layer of "
                "this base model that an adapter may change"
            )
        layers.setdefault(layer, {})[match["side"]] = tensor
    if not layers:
        raise AdapterError("it changes no layer")
    for layer, sides in layers.items():
        _check_layer(layer, sides, base.shapes[layer], helper, limits)
    tensors = {
        f"base_model.model.{layer}.lora_{side}.weight": tensor.detach().contiguous()
        for layer, sides in layers.items()
        for side, tensor in sides.items()
    }
    return PeftCheckpoint(config, tensors)


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / CONFIG).read_text())
    except FileNotFoundError:
        raise AdapterError(f"{folder} has no {CONFIG}: it is not a PEFT adapter") from None
    except (OSError, ValueError) as error:
        raise AdapterError(f"{folder / CONFIG} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise AdapterError(f"{folder / CONFIG} is not a JSON object")
    return config


def _check_config(config: dict[str, Any], limits: LoRAConfig) -> PEFTHelper:
    kind = config.get("peft_type")
    if kind != "LORA":
        raise AdapterError(f"its peft_type is {kind}, and only LORA is served")
    if config.get("modules_to_save"):
        raise AdapterError(
            f"it replaces whole modules (modules_to_save: {config['modules_to_save']}), and only "
            "low-rank changes are served"
        )
    try:
        helper = PEFTHelper.from_dict(config)
        rank = max([helper.r, *helper.rank_pattern.values()])
        if rank > limits.max_lora_rank:
            raise AdapterError(
                f"its rank is {rank}: start the server with --max-lora-rank of at least that, "
                f"not {limits.max_lora_rank}"
            )
        helper.validate_legal(limits)
    except (TypeError, ValueError) as error:
        raise AdapterError(f"its {CONFIG} is not served: {error}") from error
    return helper


def _read_tensors(folder: Path) -> Mapping[str, Tensor]:
    try:
        tensors = _load(folder)
    except Exception as error:  # a pickle is a program, and can fail in every way
        raise AdapterError(
            f"the weights in {folder} cannot be read: {first_line(error)}"
        ) from error
    if tensors is None:
        raise AdapterError(f"{folder} has no {WEIGHTS}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise AdapterError(f"the weights in {folder} hold {name}, which is no tensor")
    return tensors


def _load(folder: Path) -> dict[str, Any] | None:
    if (folder / WEIGHTS).exists():
        return load_file(folder / WEIGHTS)
    if (folder / PICKLED_WEIGHTS).exists():
        return dict(torch.load(folder / PICKLED_WEIGHTS, map_location="cpu", weights_only=True))
    return None


def _check_layer(
    layer: str,
    sides: Mapping[str, Tensor],
    shape: tuple[int, int],
    helper: PEFTHelper,
    limits: LoRAConfig,
) -> None:
    if set(sides) != {"A", "B"}:
        raise AdapterError(f"{layer} has only one of its two matrices")
    outputs, inputs = shape
    rank, _ = helper.get_rank_and_scaling(layer)
    down, up = tuple(sides["A"].shape), tuple(sides["B"].shape)
    if (down, up) != ((rank, inputs), (outputs, rank)):
        raise AdapterError(
            f"{layer} has matrices of {down} and {up}, and this base model needs "
            f"{(rank, inputs)} and {(outputs, rank)}: it was trained on another model"
        )
    if not all(torch.isfinite(matrix).all() for matrix in sides.values()):
        raise AdapterError(f"{layer} has weights that are not finite")
