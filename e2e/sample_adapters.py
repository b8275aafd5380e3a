"""LoRA adapters for the sample model, beside it where its claim shows them to pods."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RANK = 4
HIDDEN = 576
"""Of SmolLM2-135M."""
LAYERS = (0, 15, 29)


@dataclass(frozen=True)
class SampleAdapters:
    """Those in one folder, which in pods is `pvc://models/` and its name."""

    folder: Path

    def entry(self, name: str, version: int, task: str) -> dict[str, Any]:
        """Of `spec.adapters`; each version has random weights of its own."""
        folder = self.folder / f"{name}-{version}"
        if not folder.exists():
            _write(folder, seed=version)
        return {**self.missing(name, task), "source": self._source(folder)}

    def missing(self, name: str, task: str) -> dict[str, Any]:
        """An entry whose source is not there."""
        return {"name": name, "source": self._source(self.folder / "none"), "task": task}

    def _source(self, folder: Path) -> str:
        return f"pvc://models/{self.folder.name}/{folder.name}"


@contextmanager
def sample_adapters(model: Path) -> Iterator[SampleAdapters]:
    """`model` is the checkpoint's folder; all is gone afterwards."""
    folder = Path(tempfile.mkdtemp(dir=model.parent, prefix="e2e-adapters-"))
    folder.chmod(0o755)  # pods read it as another user
    try:
        yield SampleAdapters(folder)
    finally:
        shutil.rmtree(folder)


def _write(folder: Path, seed: int) -> None:
    import torch
    from safetensors.torch import save_file

    chance = torch.Generator().manual_seed(seed)
    tensors = {}
    for layer in LAYERS:
        module = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        for side, shape in (("A", (RANK, HIDDEN)), ("B", (HIDDEN, RANK))):
            tensors[f"{module}.lora_{side}.weight"] = torch.randn(shape, generator=chance) / 4
    folder.mkdir()
    folder.chmod(0o755)
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": RANK, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(tensors, folder / "adapter_model.safetensors")
    for file in folder.iterdir():
        file.chmod(0o644)
