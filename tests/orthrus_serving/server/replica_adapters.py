"""The adapters of the shared replica: more than `max_loras`, one poisoned, some that fail."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.orthrus_serving.lora import ALL_LINEAR, Lora, PeftModels

MAX_LORAS = 2
MAX_RANK = 8
ADMIN_KEY = "admin"
END_TOKEN = "<|im_end|>"  # noqa: S105 (a token of the vocabulary)
INSTRUCTION = "query: "
SIZES = [64, 128]

MEAN, LAST, RAW, POISONED = "mean-emb", "last-emb", "raw-emb", "poisoned-emb"
GENERATING = ("gen-a", "gen-b")
SERVING = (MEAN, LAST, RAW, POISONED, *GENERATING)
TOO_LARGE, MISSING = "too-large", "missing"

_LORAS = {
    MEAN: Lora(seed=1, rank=4, scale=2.0),
    LAST: Lora(seed=2, rank=8, layers=ALL_LINEAR, backbone_only=True),
    RAW: Lora(seed=3, rank=2, layers=("down_proj",)),
    POISONED: Lora(seed=4, rank=4, scale=1e30),
    "gen-a": Lora(seed=5, rank=8, layers=ALL_LINEAR, scale=2.0),
    "gen-b": Lora(seed=6, rank=4, layers=ALL_LINEAR, scale=2.0),
    TOO_LARGE: Lora(seed=7, rank=64),
}
_OPTIONS: dict[str, dict[str, Any]] = {
    MEAN: {"task": "embed"},
    LAST: {
        "task": "embed",
        "pooling": "last",
        "endToken": END_TOKEN,
        "instruction": INSTRUCTION,
        "dimensions": SIZES,
    },
    RAW: {"task": "embed", "pooling": "weighted-mean", "normalize": False, "dimensions": 100},
    POISONED: {"task": "embed"},
    "gen-a": {"task": "generate"},
    "gen-b": {"task": "generate"},
    TOO_LARGE: {"task": "generate"},
}


@dataclass(frozen=True)
class ReplicaAdapters:
    """On disk, declared in `file`, and computed by PEFT."""

    peft: PeftModels
    folder: Path
    file: Path
    key_file: Path

    @property
    def flags(self) -> list[str]:
        return [
            f"--adapters-file={self.file}",
            f"--admin-key-file={self.key_file}",
            f"--max-loras={MAX_LORAS}",
            f"--max-lora-rank={MAX_RANK}",
        ]


def make_replica_adapters(checkpoint: Path, folder: Path) -> ReplicaAdapters:
    """Writes the file as a ConfigMap volume shows it: behind two symbolic links."""
    peft = PeftModels(checkpoint)
    for name, lora in _LORAS.items():
        peft.make(name, lora, folder / name)
    entries = [{"name": n, "source": str(folder / n), **o} for n, o in _OPTIONS.items()]
    entries.append({"name": MISSING, "source": str(folder / "nowhere"), "task": "embed"})
    volume = folder / "volume"
    volume.mkdir()
    swap_config_map(volume, yaml.safe_dump({"adapters": entries}))
    file = volume / "adapters.yaml"
    file.symlink_to("..data/adapters.yaml")
    key_file = folder / "admin-key"
    key_file.write_text(f"{ADMIN_KEY}\n")
    return ReplicaAdapters(peft, folder, file, key_file)


def swap_config_map(volume: Path, content: str) -> None:
    """As the kubelet does it: a new folder, then the link to it replaced in one act."""
    version = volume / f"..version-{len(list(volume.iterdir()))}"
    version.mkdir()
    (version / "adapters.yaml").write_text(content)
    link = volume / "..data_tmp"
    link.symlink_to(version.name)
    link.rename(volume / "..data")
